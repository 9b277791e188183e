"""The window: shows the model and gives it commands; holds no algorithm."""
