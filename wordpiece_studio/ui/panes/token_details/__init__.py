"""The token details: how one token came to be and where it lives."""
