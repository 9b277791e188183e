"""Writing vocabularies for other programs: what, as what, and where."""
