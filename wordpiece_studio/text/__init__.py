"""From raw text to words: normalizers, pre-tokenizers and the way back to the original text."""
