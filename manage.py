#!/usr/bin/env python
"""`loopwatch` from a checkout: the same command line, without an installation."""

import sys

from loops.cli import main

if __name__ == "__main__":
    sys.exit(main())
