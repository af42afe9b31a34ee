"""``python -m privrelease``: the command line, where the script of that name is not on the path."""

import sys

from privrelease.cli.main import command

if __name__ == "__main__":
    sys.exit(command())
