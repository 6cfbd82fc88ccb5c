"""What varies in a sweep: lists of values and distributions, and which cases follow from them.

>>> import acausal as ac
>>> ac.linspace(1, 2, 5)
[1.0, 1.25, 1.5, 1.75, 2.0]
>>> names, cases = table({"R": [1, 2], "mode": ["slow", "fast"]})
>>> names, cases
(['R', 'mode'], [(1, 'slow'), (1, 'fast'), (2, 'slow'), (2, 'fast')])
>>> _, cases = table({"R": ac.uniform(0, 10)}, n=4, seed=1)
>>> sorted(int(r / 2.5) for r, in cases)
[0, 1, 2, 3]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _acausal

#: Values of the parameters in one case.
Case = tuple[Any, ...]
DESIGNS = ("factorial", "lhs", "sobol", "table")


@dataclass(frozen=True)
class Distribution:
    """How a parameter is distributed."""

    kind: str
    numbers: tuple[float, float]


def normal(mean: float, deviation: float) -> Distribution:
    """A normal distribution."""
    return Distribution("normal", (float(mean), float(deviation)))


def uniform(low: float, high: float) -> Distribution:
    """Any number of an interval, each as probable as the others."""
    return Distribution("uniform", (float(low), float(high)))


def linspace(start: float, stop: float, count: int) -> list[float]:
    """So many numbers at equal distances, both ends included."""
    if count == 1:
        return [float(start)]
    return [start + (stop - start) * (k / (count - 1)) for k in range(count)]


def table(parameters: Any, design: str | None = None, n: int | None = None, seed: int = 0) -> tuple[list[str], list[Case]]:
    """Names and cases.

    ``parameters`` says for each name what it takes: a list of values, a single value, or a distribution. Or it is a table already: a DataFrame, or a list of dictionaries.
    """
    if not isinstance(parameters, Mapping) or hasattr(parameters, "columns"):
        return _given(parameters)
    names = list(parameters)
    if not names:
        raise ValueError("nothing varies: give at least one parameter")
    axes = [_axis(name, parameters[name]) for name in names]
    if design is None:
        design = "lhs" if n is not None or any(isinstance(a, Distribution) for a in axes) else "factorial"
    if design not in DESIGNS:
        raise ValueError(f"there is no design {design!r}; there are {', '.join(DESIGNS)}")
    if design == "table":
        lengths = {len(a) for a in axes if not isinstance(a, Distribution)}
        if len(lengths) != 1 or any(isinstance(a, Distribution) for a in axes):
            raise ValueError("a table needs lists of one length")
        return names, list(zip(*axes))
    if design == "factorial" and n is not None:
        raise ValueError("n is for samples; all combinations are as many as they are")
    if design != "factorial" and (n is None or n < 1):
        raise ValueError(f"design {design!r} needs the number of cases, n=..")
    points = _sobol(len(axes), n or 0, seed) if design == "sobol" else None
    # Values may be anything; what is drawn is their positions.
    numbers = [(a.kind, list(a.numbers)) if isinstance(a, Distribution) else ("values", list(range(len(a)))) for a in axes]
    drawn = _acausal.design(numbers, design, n or 0, seed, points)

    def value(axis: Any, x: float) -> Any:
        return x if isinstance(axis, Distribution) else axis[int(x)]

    return names, [tuple(value(a, x) for a, x in zip(axes, case)) for case in drawn]


def _axis(name: str, given: Any) -> Distribution | list[Any]:
    if isinstance(given, Distribution):
        return given
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return [given]
    values = list(given)
    if not values:
        raise ValueError(f"there are no values for {name!r}")
    return values


def _given(table: Any) -> tuple[list[str], list[Case]]:
    if hasattr(table, "columns"):
        names = [str(c) for c in table.columns]
        columns = [table[c].to_list() for c in table.columns]
        return names, list(zip(*columns))
    rows: Sequence[Mapping[str, Any]] = list(table)
    if not rows:
        raise ValueError("the table has no cases")
    names = list(rows[0])
    for row in rows:
        if list(row) != names and set(row) != set(names):
            raise ValueError(f"the cases set other parameters: {sorted(set(row) ^ set(names))}")
    return names, [tuple(row[name] for name in names) for row in rows]


def _sobol(dimensions: int, n: int, seed: int) -> list[list[float]]:
    try:
        from scipy.stats import qmc
    except ImportError as e:
        raise ImportError('design="sobol" needs scipy (pip install scipy); "lhs" does not') from e
    return qmc.Sobol(dimensions, scramble=True, seed=seed).random(n).tolist()
