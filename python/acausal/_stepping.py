"""Simulations step by step, and linear models.

>>> import acausal as ac
>>> m = ac.loads("model Tank input Real q; parameter Real A = 2; Real h(start = 1, fixed = true); output Real p = 10*h; equation A*der(h) = q; end Tank;")
>>> sim = m.start()
>>> for k in range(3):
...     sim.set(q=2 if sim["h"] < 1.5 else -1)
...     sim.step(0.5)
0.5
1.0
1.5
>>> float(round(sim["h"], 6))
1.75
>>> lin = m.linearize()
>>> [matrix.round(6).tolist() for matrix in (lin.A, lin.B, lin.C)]
[[[0.0]], [[0.5]], [[10.0]]]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _acausal

if TYPE_CHECKING:
    import numpy as np


class Simulation:
    """A simulation that goes on when it is told to: for control loops, filters, learning."""

    def __init__(self, core: _acausal.Core, given: dict[str, Any]) -> None:
        self._stepper = _acausal.Stepper(core, given)
        self._places = {name: k for k, name in enumerate(self._stepper.signals())}

    @property
    def time(self) -> float:
        """The time."""
        return self._stepper.time

    @property
    def terminated(self) -> str | None:
        """The message of a model that has ended the simulation."""
        return self._stepper.terminated

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return self._stepper.inputs()

    def set(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Gives inputs and parameters other values from now on; names with dots go into a dictionary."""
        self._stepper.set({**(values or {}), **more})

    def step(self, duration: float) -> float:
        """Goes on for some time and gives the time then. What fails or is interrupted has not happened."""
        return self._stepper.step(duration)

    def __getitem__(self, name: str) -> float:
        """The value of a signal now."""
        if name == "time":
            return self.time
        if name not in self._places:
            raise KeyError(f"there is no signal {name!r}")
        return self._stepper.values()[self._places[name]]

    def values(self) -> dict[str, float]:
        """The values of all signals now."""
        return dict(zip(self._places, self._stepper.values()))

    def state(self) -> _acausal.State:
        """Everything that decides the future, for :meth:`restore`: as often as wanted, in any simulation of the same model."""
        return self._stepper.state()

    def restore(self, state: _acausal.State) -> None:
        """Goes back (or forward) to a state."""
        self._stepper.restore(state)

    def __repr__(self) -> str:
        return f"<Simulation at time = {self.time:g}>"


@dataclass(frozen=True)
class LinearModel:
    """``x' = A x + B u``, ``y = C x + D u`` for small changes from ``x0``, ``u0``, ``y0`` at a time."""

    time: float
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    A: np.ndarray = field(repr=False)
    B: np.ndarray = field(repr=False)
    C: np.ndarray = field(repr=False)
    D: np.ndarray = field(repr=False)
    x0: np.ndarray = field(repr=False)
    u0: np.ndarray = field(repr=False)
    y0: np.ndarray = field(repr=False)

    def to_control(self) -> Any:
        """A ``StateSpace`` of python-control, with names."""
        import control

        return control.ss(
            self.A, self.B, self.C, self.D, states=self.states, inputs=self.inputs, outputs=self.outputs
        )


def linear_model(found: dict[str, Any]) -> LinearModel:
    """From what the Rust part gives."""
    import numpy as np

    rows, inputs, outputs = (len(found[k]) for k in ("states", "inputs", "outputs"))

    def matrix(key: str, *shape: int) -> np.ndarray:
        return np.array(found[key], dtype=float).reshape(shape)

    return LinearModel(
        time=found["t"],
        states=found["states"],
        inputs=found["inputs"],
        outputs=found["outputs"],
        A=matrix("A", rows, rows),
        B=matrix("B", rows, inputs),
        C=matrix("C", outputs, rows),
        D=matrix("D", outputs, inputs),
        x0=matrix("x", rows),
        u0=matrix("u", inputs),
        y0=matrix("y", outputs),
    )
