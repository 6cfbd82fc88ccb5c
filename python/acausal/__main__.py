"""``python -m acausal`` is the command ``acausal``."""

import sys

from ._command import main

sys.exit(main())
