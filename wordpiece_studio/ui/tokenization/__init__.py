"""The live tokenization pane."""
