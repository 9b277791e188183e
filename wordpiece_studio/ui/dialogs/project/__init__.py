"""The project in the window: saving, opening, and what becomes of files that are not where they were."""
