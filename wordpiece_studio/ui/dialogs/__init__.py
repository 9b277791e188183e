"""Dialogs and what opens them."""
