"""Problems in a corpus that would spoil a vocabulary without anyone noticing, and their fixes."""
