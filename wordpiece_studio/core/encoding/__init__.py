"""Encoding texts and files to ids: line by line, or, where there is much of it, each distinct word once."""
