"""The project in the window: saving, opening, and what happens to files that were moved."""
