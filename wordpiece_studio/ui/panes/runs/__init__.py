"""The strip of runs."""
