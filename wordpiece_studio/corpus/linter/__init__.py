"""What in a corpus would spoil a vocabulary without anybody noticing, and what mends it."""
