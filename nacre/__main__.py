"""`python -m nacre`: the command line where no folder of programs is on the PATH."""

import sys

from nacre.serving.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
