"""Loading, parameters, one simulation."""

import math

import numpy as np
import pytest
from conftest import DECAY, ROOT

import acausal as ac


def test_values_follow_the_closed_form(decay):
    r = decay.simulate(stop=1, tolerance=1e-8)
    assert np.allclose(r["x"], np.exp(-2 * r.time), atol=1e-7)
    assert (r.time[0], r.time[-1], len(r.time)) == (0.0, 1.0, 501)


def test_settings(decay):
    r = decay.simulate(start=1, stop=2, interval=0.25, set={"k": 1, "x.start": 3.0})
    assert list(r.time) == [1, 1.25, 1.5, 1.75, 2]
    assert r["x"][-1] == pytest.approx(3 * math.exp(-1), rel=1e-5)
    assert list(r["k"]) == [1.0] * 5


def test_nothing_of_one_simulation_is_left_in_the_next(decay):
    before = decay.simulate(stop=1)["x"].copy()
    decay.simulate(stop=1, set={"k": 5})
    assert np.array_equal(decay.simulate(stop=1)["x"], before)


def test_parameters(decay):
    k = decay.parameters["k"]
    assert (k.value, k.unit, k.min, k.max, k.description, k.structural) == (2.0, "1/s", 0.0, 10.0, "How fast", False)
    with pytest.raises(KeyError, match="similar: k"):
        decay.parameters["kk"]


def test_parameters_of_all_types():
    m = ac.loads("""
    package P
      type Mode = enumeration(slow, fast);
      model M
        parameter Mode mode = Mode.fast;
        parameter Boolean on = true;
        parameter Integer n[2] = {1, 2};
        parameter Real a[2, 2] = {{1, 2}, {3, 4}};
        Real y = (if mode == Mode.fast then 10 else 20) + (if on then 1 else 2) + n[1] + a[2, 1];
      end M;
    end P;
    """, class_name="P.M")
    values = {name: p.value for name, p in m.parameters.items()}
    assert values == {"mode": "fast", "on": True, "n": [1, 2], "a": [[1.0, 2.0], [3.0, 4.0]]}
    assert m.simulate()["y"][0] == 15
    r = m.simulate(set={"mode": "slow", "on": False, "n": (5, 6), "a": np.array([[1, 2], [7, 8]])})
    assert r["y"][0] == 34
    assert m.simulate(set={"a[2,1]": np.float64(0), "n[1]": np.int64(0), "on": np.bool_(True)})["y"][0] == 11


def test_sizes_are_set_before_compiling_or_on_request():
    text = "model M parameter Integer n = 2; parameter Real k = 1; Real x[n](each start = 1, each fixed = true); equation der(x) = -k*x; end M;"
    assert ac.loads(text, set={"n": 3}).simulate()["x"].shape[1] == 3
    m = ac.loads(text)
    with pytest.raises(ac.SettingError, match="cannot be set any more") as e:
        m.simulate(set={"n": 3})
    assert e.value.code == "wrong-setting"
    r = m.simulate(set={"n": 3, "k": 2}, recompile=True)
    assert r["x"].shape[1] == 3
    assert r["x[3]"][-1] == pytest.approx(math.exp(-2), rel=1e-5)
    assert m.recompile({"n": 4}).recompile({"k": 3}).simulate()["x"].shape[1] == 4


def test_observe(ball):
    assert ball.simulate(observe="h").names == ["h"]
    assert ball.simulate(observe=["?", "der(v)"]).names == ["e", "h", "v", "der(v)"]
    with pytest.raises(ac.SettingError, match="there is no signal `hh` to store") as e:
        ball.simulate(observe="hh")
    assert e.value.code == "unknown-signal"


def test_events(ball):
    r = ball.simulate(stop=1)
    falls = math.sqrt(0.2)
    # It leaves the ground in an event of its own.
    assert [e.changes[0] for e in r.events] == ["`h <= 0` is now true", "`h <= 0` is now false"] * 2
    assert [e.time for e in r.events[::2]] == pytest.approx([falls, 2 * falls], rel=1e-6)
    assert r["bounces"][-1] == 2
    assert r.stats["events"] == 4


def test_files_and_compiled_models(tmp_path, decay):
    m = ac.load(ROOT / "examples" / "Pendulum.mo")
    assert m.name == "Pendulum"
    m.save(tmp_path / "p.acm")
    again = ac.load(tmp_path / "p.acm")
    assert np.array_equal(again.simulate()["phi"], m.simulate()["phi"])
    with pytest.raises(ValueError, match="does not end in .acm"):
        decay.save(tmp_path / "p.mo")


def test_libraries_are_searched(tmp_path):
    (tmp_path / "Lib.mo").write_text("package Lib model A Real x = 3; end A; end Lib;")
    assert ac.load("Lib.A", libraries=[tmp_path]).simulate()["x"][0] == 3
    with pytest.raises(ac.CompileError, match="there is no class or library"):
        ac.load("Lib.A")


def test_explain_and_diagnostics():
    m = ac.loads("model M Real x, y(start = 1, fixed = true); equation der(x) = y; x = sin(time); end M;")
    assert m.explain()["structural_index"] == 2
    assert ac.loads(DECAY).diagnostics == []


def test_progress_is_told(endless):
    told = []
    endless.simulate(stop=20, interval=1, progress=lambda t, fraction: told.append((t, fraction)))
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (20, 1)


def test_a_progress_that_fails_ends_the_simulation(endless):
    def fail(t, fraction):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        endless.simulate(stop=1e9, interval=1e6, progress=fail)


def test_a_bar_is_drawn(endless, capsys):
    endless.simulate(stop=500, interval=10, progress=True)
    shown = capsys.readouterr().err
    assert "Endless [#" in shown and " %, " in shown and "s left" in shown
