"""What a vocabulary does to a text: figures, and tokens that longest match never produces.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
