"""What a vocabulary makes of a text: figures, and tokens that longest match never produces."""
