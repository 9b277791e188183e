"""A monkey at the window: seeded random actions of every kind, and what counts as a fault. See `__main__`."""
