"""The command ``acausal``, as the wheel installs it."""

import os
import sys

from . import _acausal


def main() -> int:
    """Runs the command with the arguments of this process and gives its exit code."""
    return _acausal.command([os.path.basename(sys.argv[0]), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
