"""Text to tokens and ids with a given vocabulary: longest match, its trace, and whole corpora.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
