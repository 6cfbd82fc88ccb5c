"""Models that several tests use."""

import pathlib
import signal

import pytest

import acausal as ac

# Shells ignore Ctrl-C in what they start in the background, and Python then has no handler for it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]

DECAY = """
model Decay "Something that goes away"
  parameter Real k(unit = "1/s", min = 0, max = 10) = 2 "How fast";
  Real x(start = 1, fixed = true, unit = "m");
equation
  der(x) = -k*x;
end Decay;
"""

BALL = """
model Ball
  parameter Real e = 0.5;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  discrete Integer bounces(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -10;
  when h <= 0 then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
end Ball;
"""

# Steps of a millisecond, without an end that a test could reach.
ENDLESS = """
model Endless
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = 1000*y;
  der(y) = -1000*x;
end Endless;
"""


@pytest.fixture(scope="session")
def decay():
    return ac.loads(DECAY, name="Decay.mo")


@pytest.fixture(scope="session")
def ball():
    return ac.loads(BALL)


@pytest.fixture(scope="session")
def endless():
    return ac.loads(ENDLESS)
