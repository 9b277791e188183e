"""The token card: how one token came to be and where it lives."""
