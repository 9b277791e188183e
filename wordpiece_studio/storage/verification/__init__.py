"""Making exported files again and saying whether they are the same to the byte."""
