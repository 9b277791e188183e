"""A package, so that tests can share helpers: ``from tests.leftovers import alive``."""
