"""What is asked of the machine: files written whole or not at all, memory, turns for other threads."""
