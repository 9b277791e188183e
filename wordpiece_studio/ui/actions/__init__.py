"""Every command of the window, made once."""
