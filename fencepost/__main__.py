"""``python -m fencepost``: the command line."""

import sys

from fencepost.checks.cli import main

if __name__ == "__main__":
    sys.exit(main())
