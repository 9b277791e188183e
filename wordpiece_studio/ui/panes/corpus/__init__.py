"""The corpus pane, and opening, editing, counting and saving its text."""
