"""Keeping unsaved work, so that a crash, a kill or a power cut loses none of it."""
