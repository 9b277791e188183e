"""The token details pane: how one token came to be and where it occurs."""
