"""What inputs are over time.

>>> import acausal as ac
>>> m = ac.loads("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;")
>>> float(m.simulate(stop=2, inputs={"u": ([0, 1, 1, 2], [0, 2, 0, 0])})["x"][-1].round(6))
1.0
>>> float(m.simulate(stop=2, inputs={"u": ac.hold([0, 1], [3, -1])})["x"][-1].round(6))
2.0
>>> float(m.simulate(stop=1, inputs={"u": lambda t: 3*t**2})["x"][-1].round(5))
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Parts of the span in which a function is looked at first, and how often each is halved at most.
_PARTS = 64
_HALVINGS = 12

Course = tuple[str, list[float], list[float], bool]


@dataclass(frozen=True)
class Hold:
    """Values that stay until the next instant."""

    times: Sequence[float]
    values: Sequence[float]


def hold(times: Sequence[float], values: Sequence[float]) -> Hold:
    """An input whose values stay until the next instant, such as the output of a sampled controller. Each change is an event."""
    return Hold(times, values)


def courses(inputs: Any, start: float, stop: float, tolerance: float) -> list[Course]:
    """Inputs as tables: name, instants, values, whether they are held."""
    if inputs is None:
        return []
    if hasattr(inputs, "columns"):
        inputs = _columns(inputs)
    if not isinstance(inputs, Mapping):
        raise TypeError("inputs= takes a dictionary of names, or a DataFrame over time")
    return [(name, *_course(name, given, start, stop, tolerance)) for name, given in inputs.items()]


def _columns(frame: Any) -> dict[str, Any]:
    """A DataFrame of pandas with the time as index, or of any kind with a column ``time``."""
    names = [str(c) for c in frame.columns]
    if "time" in names:
        times = frame["time"].to_list()
        names.remove("time")
    elif hasattr(frame, "index"):
        times = list(frame.index)
    else:
        raise ValueError("the table of inputs needs a column `time`")
    return {name: (times, frame[name].to_list()) for name in names}


def _course(name: str, given: Any, start: float, stop: float, tolerance: float) -> tuple[list[float], list[float], bool]:
    if isinstance(given, Hold):
        return [float(t) for t in given.times], [float(v) for v in given.values], True
    if callable(given):
        times = _sampled(given, start, stop, tolerance)
        return list(times), list(times.values()), False
    if hasattr(given, "index") and hasattr(given, "to_list"):
        given = (list(given.index), given.to_list())
    if isinstance(given, (int, float)) or (hasattr(given, "shape") and given.shape == ()):
        return [start], [float(given)], True
    try:
        times, values = given
        values = list(values)
        discrete = bool(values) and all(isinstance(v, bool) for v in values)
        return [float(t) for t in times], [float(v) for v in values], discrete
    except (TypeError, ValueError):
        raise TypeError(
            f"the input {name!r} takes a number, (times, values), hold(times, values), a function of time or a Series over time"
        ) from None


def _sampled(f: Callable[[float], float], start: float, stop: float, tolerance: float) -> dict[float, float]:
    """A function as a table: intervals are halved until the middle lies on the line between the ends, up to the tolerance."""
    edges = [start + (stop - start) * (k / _PARTS) for k in range(_PARTS + 1)]
    values = {t: float(f(t)) for t in edges}
    scale = max(map(abs, values.values())) or 1.0
    # Last in, first out; deepest first, so that the order of the result is made by sorting.
    open_parts = [(a, b, 0) for a, b in zip(edges, edges[1:]) if b > a]
    while open_parts:
        a, b, depth = open_parts.pop()
        # Off the middle, where a symmetric function would look like a line.
        middle = a + 0.5 * (b - a)
        probe = a + 0.3 * (b - a)
        for t in (middle, probe):
            values.setdefault(t, float(f(t)))
            scale = max(scale, abs(values[t]))
        line = lambda t: values[a] + (values[b] - values[a]) * ((t - a) / (b - a))  # noqa: E731
        off = max(abs(values[t] - line(t)) for t in (middle, probe))
        if off > tolerance * scale and depth < _HALVINGS:
            del values[probe]
            open_parts += [(a, middle, depth + 1), (middle, b, depth + 1)]
        else:
            del values[probe]
            del values[middle]
    return dict(sorted(values.items()))
