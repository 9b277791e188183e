"""What the window shows, without a window: Qt objects that run under a QCoreApplication.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""
