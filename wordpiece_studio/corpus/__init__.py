"""From files to word counts."""
