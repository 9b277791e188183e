"""The corpus pane."""
