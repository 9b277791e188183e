"""``python -m wordpiece_studio`` is ``wordpiece-studio``."""

from wordpiece_studio.cli import main

if __name__ == "__main__":
    main()
