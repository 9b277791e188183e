"""What is asked of the machine: files written whole or not at all, memory, turns for other threads.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
