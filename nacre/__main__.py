"""`python -m nacre`: the command line for environments whose scripts are not on the PATH."""

import sys

from nacre.serving.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
