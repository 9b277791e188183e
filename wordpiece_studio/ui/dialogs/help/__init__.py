"""The log, diagnostics, and what the Help menu shows."""
