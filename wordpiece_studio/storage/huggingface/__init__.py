"""The files of Hugging Face's `tokenizers` and `transformers`, written and read without those libraries."""
