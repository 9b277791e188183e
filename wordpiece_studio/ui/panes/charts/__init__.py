"""The charts of a training run."""
