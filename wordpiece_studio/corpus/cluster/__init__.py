"""Counting on the machines of a cluster."""
