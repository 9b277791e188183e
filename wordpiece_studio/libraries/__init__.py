"""Other people's tokenizers, run in a child process by the libraries that made them.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
