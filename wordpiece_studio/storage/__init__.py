"""The files that the Studio reads and writes.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
