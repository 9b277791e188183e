"""The engine room: text, corpora, training, vocabularies and files. Knows no Qt."""
