"""The timeline pane, and moving through the training."""
