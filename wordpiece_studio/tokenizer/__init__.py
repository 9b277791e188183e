"""Text to tokens and ids with a given vocabulary: longest match, its trace, and whole corpora."""
