"""Writing vocabularies for other programs: what, in which format, and where."""
