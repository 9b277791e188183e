"""The panes of the window, one folder each."""
