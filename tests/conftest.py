"""One BLAS thread, since the products here are small, no downloads, and the examples that hypothesis tries."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["DCPROG_OFFLINE"] = "1"
# A shell starts what runs in the background, or under nohup, deaf to these; children inherit that, and tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# `python -m pytest` puts the checkout on the path. What is tested is the package as it is installed, with all that an
# install may leave out; that the checkout works as well, when Python is started there, is what tests/test_clone.py says.
sys.path[:] = [str(Path(__file__).parent), *(p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parents[1])]

pytest.register_assert_rewrite("known_qps", "random_nlps")
# The same examples in every run; `pytest --hypothesis-profile=search` looks at new ones.
settings.register_profile(
    "dcprog",
    deadline=None,
    max_examples=10,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", settings.get_profile("dcprog"), max_examples=100, derandomize=False)
settings.load_profile("dcprog")
