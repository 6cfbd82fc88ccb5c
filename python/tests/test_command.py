"""The command in the wheel."""

import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT


def command():
    """The script that the wheel installed."""
    path = pathlib.Path(sys.executable).with_name("acausal")
    if not path.exists():
        pytest.skip("the package is not installed by pip")
    return path


def test_it_simulates(tmp_path):
    done = subprocess.run(
        [command(), "simulate", ROOT / "examples" / "Pendulum.mo", "--output", tmp_path / "p.csv"],
        capture_output=True, text=True, check=True,
    )
    assert "Pendulum: 2 unknowns" in done.stdout
    assert (tmp_path / "p.csv").exists()


def test_exit_codes(tmp_path):
    assert subprocess.run([command(), "--nonsense"], capture_output=True, check=False).returncode == 2
    bad = tmp_path / "bad.mo"
    bad.write_text("model M Real x; end M;")
    assert subprocess.run([command(), "check", bad], capture_output=True, check=False).returncode == 1


def test_importing_is_quick():
    code = "import time; t = time.perf_counter(); import acausal, sys; print(time.perf_counter() - t, 'numpy' in sys.modules)"
    said = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
    assert min(float(s[0]) for s in said) < 0.15
    assert said[0][1] == "False"
