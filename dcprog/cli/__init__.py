"""The command line: ``dcprog solve``, ``check``, ``reproduce``, ``compare``, and listings.

Exit codes: 0 converged (or passed, or listed), 1 not, 2 wrong usage, 130 interrupted before there was anything to report.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import typer

from dcprog.cli import compare, data, reproduce  # noqa: F401  (they register their commands)
from dcprog.cli.commands import app
from dcprog.errors import DCProgError

UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # click's, or the copy of it that newer versions of typer carry


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; mistakes are one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without λ gets "?", not a traceback
    try:
        code: int | None = app(args=arguments, prog_name="dcprog", standalone_mode=False)
        return code or 0
    except DCProgError as error:
        message = str(error)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
    print(f"dcprog: {' '.join(message.split())}", file=sys.stderr)
    return 2
