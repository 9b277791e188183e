"""The training controls, and what they start."""
