"""The program's version, which files and other computers are given. It lies below all that names it."""

__version__ = "0.1.0"
