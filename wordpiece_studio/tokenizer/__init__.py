"""Text to tokens and ids with a given vocabulary: longest match, its account, and whole corpora."""
