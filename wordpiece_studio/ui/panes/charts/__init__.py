"""The charts: what the training was like, in pictures."""
