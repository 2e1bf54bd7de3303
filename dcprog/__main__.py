"""``python -m dcprog``."""

import sys

from dcprog.cli import main

sys.exit(main())
