"""Other people's tokenizers, run in a child process by the libraries that made them."""
