"""What the window shows, without a window: Qt objects that run under a QCoreApplication."""
