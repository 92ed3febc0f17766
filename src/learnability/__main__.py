"""Run the command line as ``python -m learnability``."""

from learnability.cli import main

if __name__ == "__main__":
    main()
