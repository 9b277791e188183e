"""The merge history pane."""
