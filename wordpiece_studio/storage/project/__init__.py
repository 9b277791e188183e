"""Project files: everything that a user made of a corpus, in one file."""
