"""Offering what was kept of work that was never saved."""
