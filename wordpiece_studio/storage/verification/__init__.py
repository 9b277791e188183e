"""Reproducing exported files and reporting whether they are identical, byte for byte."""
