"""The vocabulary pane."""
