"""Measurements, each a command that prints a table; nothing here runs with the tests."""
