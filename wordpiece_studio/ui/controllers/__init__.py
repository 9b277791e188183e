"""What the commands of the window do."""
