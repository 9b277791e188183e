"""The arrangements of the panes: for teaching, for working, for presenting."""
