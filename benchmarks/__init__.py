"""Measurements; ``python -m benchmarks.NAME --help`` says what each of them does and needs."""

from __future__ import annotations

import sys
from collections.abc import Callable

from dcprog.errors import DCProgError

PEERS = "python -m pip install cvxpy dccp skglm"
"""What brings the peers that are no part of dcprog's install."""


def run(main: Callable[[], None]) -> None:
    """Run a benchmark: a data set or a peer that is not here is one line, not a traceback."""
    try:
        main()
    except DCProgError as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        sys.exit(f"{error}: {PEERS}")
