"""The same study on a Dask cluster: the same results, even if a worker is killed on the way."""

import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from study_tools import QUICK, SMALL, small_data, without_times

from dcprog.errors import DCProgError
from dcprog.studies import compare

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return compare(small_data(), tmp_path_factory.mktemp("here") / "out", methods=QUICK, folds=5, grids=SMALL)


def test_a_cluster_gives_the_same(cluster, here, tmp_path):
    there = compare(small_data(), tmp_path / "out", methods=QUICK, folds=5, grids=SMALL, dask=cluster.scheduler_address)
    assert there.complete
    assert without_times(there.results) == without_times(here.results)


def test_a_worker_that_is_killed_is_survived(cluster, tmp_path):
    killed: list[int] = []
    grids = replace(SMALL, mu=tuple(10.0 ** np.arange(8)), nu=(0.1, 0.3, 1.0, 3.0))  # as long as a worker takes to die
    words = {"methods": ["l2_l1_svm"], "folds": 6, "grids": grids}

    @contextmanager
    def watch(tasks):
        def kill_once(task):
            if not killed:
                with distributed.Client(cluster) as client:
                    killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        yield kill_once

    there = compare(small_data(), tmp_path / "there", dask=cluster.scheduler_address, watch=watch, **words)
    assert killed
    assert there.complete
    here = compare(small_data(), tmp_path / "here", **words)
    assert without_times(there.results) == without_times(here.results)


def test_no_scheduler(tmp_path, monkeypatch):
    monkeypatch.setattr("dcprog.studies.execute.SECONDS", 1.0)
    with pytest.raises(DCProgError, match="no Dask scheduler answers at"):
        compare(small_data(), tmp_path / "out", methods=["svm"], folds=3, grids=SMALL, dask="tcp://127.0.0.1:1")
