"""Dask, Ray and joblib: real local clusters, where they are installed."""

import os
import signal
import time

import numpy as np
import pytest

import acausal as ac

CASES = 1000


@pytest.fixture(scope="module")
def expected(decay):
    return decay.sweep({"k": ac.linspace(1, 3, CASES)}, stop=1, interval=0.5)["x"]


def slow_last(r):
    time.sleep(0.002)
    return {"last": float(r["x"][-1]), "process": os.getpid()}


def test_joblib(decay, expected):
    pytest.importorskip("joblib")
    s = decay.sweep({"k": ac.linspace(1, 3, CASES)}, stop=1, interval=0.5, executor="joblib")
    assert np.array_equal(s["x"], expected)


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_dask(decay, expected, dask_client):
    s = decay.sweep({"k": ac.linspace(1, 3, CASES)}, stop=1, interval=0.5, executor=dask_client)
    assert np.array_equal(s["x"], expected)


def test_dask_loses_a_worker(decay, expected, dask_client):
    pids = dask_client.run(os.getpid)
    killed = []

    def progress(done, total):
        if done > 100 and not killed:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    s = decay.sweep(
        {"k": ac.linspace(1, 3, CASES)}, stop=1, interval=0.5, executor=dask_client, reduce=slow_last, progress=progress
    )
    assert killed
    assert set(s.status) == {"finished"} and len(s.reduced["last"]) == CASES
    assert np.array_equal(s.reduced["last"], expected[:, -1])


@pytest.mark.skipif("ACAUSAL_TEST_RAY" not in os.environ, reason="a cluster of Ray takes long to start")
def test_ray(decay, expected):
    ray = pytest.importorskip("ray")
    # Workers import `slow_last` from here.
    environment = {"env_vars": {"PYTHONPATH": os.path.dirname(__file__)}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    try:
        s = decay.sweep({"k": ac.linspace(1, 3, CASES)}, stop=1, interval=0.5, executor="ray")
        assert np.array_equal(s["x"], expected)
        pids = {int(p) for p in decay.sweep({"k": ac.linspace(1, 3, CASES)}, stop=1, executor="ray", reduce=slow_last).reduced["process"]}
        assert os.getpid() not in pids
    finally:
        ray.shutdown()
