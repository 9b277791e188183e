"""Tokenizers that other programs made, run here step by step as the `tokenizers` library runs them."""
