"""The files that the Studio reads and writes."""
