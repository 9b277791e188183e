"""The training controls, and what they set going."""
