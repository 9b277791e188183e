"""From raw text to words: normalizers, pre-tokenizers and the way back to the original text.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
