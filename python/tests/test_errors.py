"""Failures: classes, text, what they know; Ctrl-C."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import acausal as ac


def test_an_error_of_the_model():
    with pytest.raises(ac.CompileError) as caught:
        ac.loads("model M\n  Real x;\nequation\n  der(x) = y + z;\nend M;", name="M.mo")
    e = caught.value
    assert (e.code, e.file, e.line, e.column) == ("unknown-name", "M.mo", 4, 12)
    assert [str(d) for d in e.diagnostics] == [f"M.mo:4:12: error[unknown-name]: {e.message}"]
    assert "M.mo:4:12" in str(e)


def test_the_text_is_that_of_the_command(tmp_path):
    file = tmp_path / "M.mo"
    file.write_text("model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.5, \"small\"); end M;")
    said = subprocess.run(
        [sys.executable, "-m", "acausal", "simulate", str(file), "--no-output"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 1
    with pytest.raises(ac.SimulationError) as caught:
        ac.load(file).simulate()
    assert str(caught.value) in said.stderr


def test_an_error_of_a_simulation():
    m = ac.loads("model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.5, \"small\"); end M;", name="M.mo")
    with pytest.raises(ac.SimulationError, match="assertion failed at time = 0.5") as caught:
        m.simulate(stop=2)
    e = caught.value
    assert (e.code, e.file, e.line) == ("assertion", "M.mo", 1)
    assert e.time == pytest.approx(0.5)
    assert e.values == {"x": pytest.approx(0.5)}
    assert e.result.time[-1] == pytest.approx(0.5, abs=0.01)
    again = pickle.loads(pickle.dumps(e))
    assert (type(again), str(again), again.code, again.time) == (type(e), str(e), e.code, e.time)


def test_an_error_of_the_start():
    m = ac.loads("model M Real x(start = 1); equation x^2 = -1 - time; end M;")
    with pytest.raises(ac.SimulationError) as caught:
        m.simulate()
    assert caught.value.time == 0
    assert "x" in caught.value.values
    assert caught.value.result is None


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"set": {"kk": 1}}, "wrong-setting"),
        ({"set": {"k": True}}, "wrong-setting"),
        ({"set": {"k": [1, 2]}}, "wrong-setting"),
        ({"set": {"x": 1}}, "wrong-setting"),
        ({"stop": -1}, "settings"),
        ({"interval": 0}, "settings"),
        ({"tolerance": 2}, "settings"),
        ({"stop": float("nan")}, "settings"),
    ],
)
def test_wrong_settings(decay, settings, code):
    with pytest.raises(ac.SettingError) as caught:
        decay.simulate(**settings)
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)


def test_what_is_no_value_is_a_type_error(decay):
    with pytest.raises(TypeError, match="`k` takes a number"):
        decay.simulate(set={"k": object()})
    with pytest.raises(TypeError, match="there is no option `colour`"):
        ac.loads("model M end M;", colour="red")


def test_values_that_the_compiler_relied_on():
    m = ac.loads("model M parameter Real a = 1; Real x, y; equation a*x + y = 1; x - y = time; end M;")
    m.simulate(set={"a": 2})
    with pytest.raises(ac.Error):
        m.simulate(set={"a": -1})


def interrupt_soon(after=0.5):
    """Sends Ctrl-C to this process; the list gets the instant."""
    sent = []

    def send():
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    return sent


def test_ctrl_c_stops_and_leaves_what_was_computed(endless):
    sent = interrupt_soon()
    with pytest.raises(ac.Interrupted) as caught:
        endless.simulate(stop=1e7, interval=1)
    # 0.2 s are the aim; machines that are busy get some more.
    assert time.monotonic() - sent[0] < 0.5
    result = caught.value.result
    assert len(result.time) > 2 and result.time[-1] < 1e7
    assert isinstance(caught.value, KeyboardInterrupt)


def test_ctrl_c_while_compiling():
    body = "\n".join(f"Real x{k}(start = 1, fixed = true);" for k in range(20000))
    equations = "\n".join(f"der(x{k}) = -x{k} + sin(x{(k * 7 + 1) % 20000});" for k in range(20000))
    text = f"model Large {body}\nequation\n{equations}\nend Large;"
    sent = interrupt_soon(0.1)
    with pytest.raises(KeyboardInterrupt):
        while True:
            ac.loads(text)
    assert time.monotonic() - sent[0] < 0.5
