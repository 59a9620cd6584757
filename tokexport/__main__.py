"""``python -m tokexport``, the same as the command ``tokexport``."""

from tokexport.cli import main

if __name__ == "__main__":
    main()
