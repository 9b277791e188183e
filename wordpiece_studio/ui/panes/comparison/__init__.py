"""The pane that compares runs: what is measured of them, how they split a text and words, and what they share."""
