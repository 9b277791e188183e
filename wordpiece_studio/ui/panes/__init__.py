"""The panes of the window, a folder each."""
