"""What a vocabulary does to a text: figures, and tokens that longest match never produces."""
