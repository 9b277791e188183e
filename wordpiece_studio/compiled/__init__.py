"""What compiled kernels share: their cache, compiling beforehand, arrays that grow.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
