"""The window: shows the model, asks the model, holds no algorithm."""
