"""What is kept of unsaved work, so that a crash, a kill or a power cut takes nothing of it."""
