"""Sweeps: designs, statuses, what is kept, directories, executors."""

import concurrent.futures
import json
import multiprocessing
import os
import signal
import statistics
import threading
import time

import numpy as np
import pytest

import acausal as ac


def test_all_combinations_follow_the_closed_form(decay):
    s = decay.sweep({"k": ac.linspace(1, 3, 5), "x.start": [1, 2]}, stop=1, interval=0.25, tolerance=1e-8)
    assert s["x"].shape == (10, 5)
    k, start = s.cases["k"], s.cases["x.start"]
    assert np.allclose(s["x"], start[:, None] * np.exp(-np.outer(k, s.time)), atol=1e-6)
    assert set(s.status) == {"finished"} and s.failures == []


def test_a_case_has_the_bits_of_a_simulation_of_its_own(ball):
    s = ball.sweep({"e": [0.5, 0.625, 0.75]}, stop=1, interval=0.1)
    for e, row in zip(s.cases["e"], s["h"]):
        r = ball.simulate(stop=1, interval=0.1, set={"e": e})
        assert [r.at(t, "h") for t in s.time] == list(row)
    again = ball.sweep({"e": [0.5, 0.625, 0.75]}, stop=1, interval=0.1, threads=1)
    assert np.array_equal(s["h"], again["h"])


def test_a_latin_hypercube_of_distributions(decay):
    s = decay.sweep({"k": ac.normal(1, 0.1), "x.start": ac.uniform(2, 4)}, n=100, stop=1, interval=1, seed=3)
    parts = sorted(int((x - 2) / 2 * 100) for x in s.cases["x.start"])
    assert parts == list(range(100))
    normal = statistics.NormalDist(1, 0.1)
    assert sorted(int(normal.cdf(k) * 100) for k in s.cases["k"]) == list(range(100))
    same = decay.sweep({"k": ac.normal(1, 0.1), "x.start": ac.uniform(2, 4)}, n=100, stop=1, interval=1, seed=3)
    assert np.array_equal(same.cases["k"], s.cases["k"])


def test_sobol(decay):
    pytest.importorskip("scipy")
    s = decay.sweep({"k": ac.uniform(0, 8)}, design="sobol", n=8, stop=1, interval=1)
    assert sorted(int(k) for k in s.cases["k"]) == list(range(8))


def test_tables(decay):
    pd = pytest.importorskip("pandas")
    rows = [{"k": 1.0, "x.start": 2.0}, {"k": 2.0, "x.start": 1.0}]
    one = decay.sweep(rows, stop=1, interval=1)
    two = decay.sweep(pd.DataFrame(rows), stop=1, interval=1)
    three = decay.sweep({"k": [1.0, 2.0], "x.start": [2.0, 1.0]}, design="table", stop=1, interval=1)
    assert np.array_equal(one["x"], two["x"]) and np.array_equal(one["x"], three["x"])


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({"kk": [1]}, {}, "no parameter `kk`"),
        ({"k": []}, {}, "no values for 'k'"),
        ({}, {}, "nothing varies"),
        ({"k": ac.normal(1, 1)}, {}, "needs the number of cases"),
        ({"k": ac.normal(1, -1)}, {"n": 3}, "not negative"),
        ({"k": ac.uniform(2, 1)}, {"n": 3}, "needs an interval"),
        ({"k": [1]}, {"design": "magic"}, "no design 'magic'"),
        ({"k": [1]}, {"set": {"k": 2}}, "varied and set"),
        ({"k": [1, True]}, {}, "finite number"),
        ({"k": [1]}, {"observe": "y"}, "no signal `y`"),
        ([{"k": 1}, {"j": 1}], {}, "other parameters"),
    ],
)
def test_mistakes_are_told_before_anything_runs(decay, parameters, options, message):
    with pytest.raises(ValueError, match=message):
        decay.sweep(parameters, **options)


FRAGILE = """
model Fragile
  parameter Real limit = 0.1;
  Real x(start = 1, fixed = true);
equation
  der(x) = -1;
  assert(x > limit, "too small");
end Fragile;
"""


def test_each_case_keeps_its_own_status():
    m = ac.loads(FRAGILE)
    s = m.sweep({"limit": [-1, 0.5, -2, 0.25]}, stop=1, interval=0.1)
    assert list(s.status) == ["finished", "failed", "finished", "failed"]
    assert [(f.case, f.code) for f in s.failures] == [(1, "assertion"), (3, "assertion")]
    assert s.failures[0].time == pytest.approx(0.5)
    assert "too small" in s.failures[0].text
    # What a case got to is there.
    assert np.isfinite(s["x"][1][:5]).all() and np.isnan(s["x"][1][7:]).all()
    assert s["x"][2][-1] == pytest.approx(0)
    with pytest.raises(ac.SimulationError, match="case 1 with {'limit': 0.5}") as caught:
        m.sweep({"limit": [-1, 0.5]}, stop=1, errors="raise")
    assert caught.value.code == "assertion"


def test_reduce(decay):
    s = decay.sweep({"k": [1, 2]}, stop=1, reduce=lambda r: {"last": r["x"][-1], "rows": len(r.time)})
    assert np.allclose(s.reduced["last"], np.exp([-1, -2]), atol=1e-5)
    assert list(s.reduced["rows"]) == [501, 501]
    m = ac.loads(FRAGILE)
    s = m.sweep({"limit": [-1, 0.5]}, stop=1, reduce=lambda r: float(r["x"][-1]))
    assert s.reduced[0] == pytest.approx(0) and np.isnan(s.reduced[1])
    with pytest.raises(ValueError, match="not in memory"):
        s["x"]


def test_tables_of_results(decay):
    pytest.importorskip("xarray")
    pytest.importorskip("pandas")
    s = decay.sweep({"k": [1, 2, 3]}, stop=1, interval=0.5)
    data = s.to_xarray()
    assert data["x"].dims == ("case", "time") and data["x"].attrs["units"] == "m"
    assert list(data["k"].values) == [1, 2, 3]
    frame = s.to_pandas()
    assert list(frame.columns) == ["k", "status", "x"]
    assert frame["x"].iloc[0] == pytest.approx(np.exp(-1), abs=1e-5)


def test_progress(decay):
    told = []
    decay.sweep({"k": ac.linspace(1, 2, 50)}, stop=1, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 50) or told[0][1] == 50
    assert told[-1] == (50, 50)


def test_a_directory_and_going_on(decay, tmp_path):
    pl = pytest.importorskip("polars")
    directory = tmp_path / "s"
    parameters = {"k": ac.linspace(1, 2, 10)}
    s = decay.sweep(parameters, stop=1, interval=0.5, output=directory, chunk=3)
    assert set(s.status) == {"finished"}
    frame = s.scan().collect()
    assert frame.height == 30
    last = frame.filter(pl.col("time") == 1).sort("case")
    assert np.allclose(last["x"], np.exp(-np.linspace(1, 2, 10)), atol=1e-5)
    # Some chunks are lost, and a line was cut off.
    lines = (directory / "manifest.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 5
    (directory / "manifest.jsonl").write_text("".join(lines[:3]) + '{"chunk": 2, "fi')
    written = {f.name: f.stat().st_mtime_ns for f in directory.glob("chunk-*")}
    done = []
    again = decay.sweep(parameters, stop=1, interval=0.5, output=directory, chunk=3, progress=lambda d, n: done.append(d))
    assert done[0] >= 6 and done[-1] == 10
    now = {f.name: f.stat().st_mtime_ns for f in directory.glob("chunk-*")}
    assert [n for n in sorted(now) if now[n] != written[n]] == ["chunk-000002.parquet", "chunk-000003.parquet"]
    assert again.scan().collect().sort("case", "time").equals(frame.sort("case", "time"))
    entries = [json.loads(line) for line in (directory / "manifest.jsonl").read_text().splitlines()]
    assert sorted(e["chunk"] for e in entries[1:]) == [0, 1, 2, 3]
    with pytest.raises(OSError, match="holds another sweep"):
        decay.sweep(parameters, stop=2, interval=0.5, output=directory, chunk=3)


def test_ctrl_c_leaves_what_has_ended(endless):
    sent = []

    def send():
        time.sleep(1)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(ac.Interrupted) as caught:
        endless.sweep({"x.start": ac.linspace(1, 2, 10000)}, stop=5, interval=1)
    assert time.monotonic() - sent[0] < 0.5
    s = caught.value.result
    finished = s.status == "finished"
    assert 0 < finished.sum() < 10000
    assert np.isfinite(s["x"][finished]).all()


def last(r):
    return {"last": float(r["x"][-1])}


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_executors(decay, kind):
    expected = decay.sweep({"k": ac.linspace(1, 3, 40)}, stop=1, interval=0.5)["x"]
    if kind == "processes":
        pool = concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    else:
        pool = concurrent.futures.ThreadPoolExecutor(2)
    with pool:
        s = decay.sweep({"k": ac.linspace(1, 3, 40)}, stop=1, interval=0.5, executor=pool)
        assert np.array_equal(s["x"], expected)
        r = decay.sweep({"k": ac.linspace(1, 3, 40)}, stop=1, interval=0.5, executor=pool, reduce=last)
    assert np.array_equal(r.reduced["last"], expected[:, -1])


def test_what_is_no_executor(decay):
    with pytest.raises(TypeError, match="executor is one of"):
        decay.sweep({"k": [1]}, executor=3)
