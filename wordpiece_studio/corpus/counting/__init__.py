"""Counting the words of texts and files, in one process or several."""
