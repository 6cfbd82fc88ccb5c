"""Trajectories.

>>> import acausal as ac
>>> m = ac.loads("model Ramp Real x[2] = {time, 2*time}; Boolean late = time > 0.6; end Ramp;")
>>> r = m.simulate(stop=1, interval=0.25)
>>> r["x[2]"]
array([0. , 0.5, 1. , 1.2, 1.2, 1.5, 2. ])
>>> r["x"].shape
(7, 2)
>>> r.events
[Event(time=0.6, changes=('`time > 0.6` is now true',))]
"""

from __future__ import annotations

import difflib
import html
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

#: Signals that are drawn when nothing is named.
_DRAWN = 4
_SUBSCRIPTS = re.compile(r"\[([0-9,]+)\]")


class Event(NamedTuple):
    """An instant at which something changed abruptly."""

    time: float
    changes: tuple[str, ...]


class SignalInfo(NamedTuple):
    """What is known about a signal."""

    name: str
    unit: str
    description: str
    type: str


class Result:
    """What a simulation gave, as a mapping from names of signals to arrays over :attr:`time`.

    At an event there are two rows with the same time, before and after it. Arrays are read-only and share memory with the result.
    """

    def __init__(self, run: Any) -> None:
        self._run = run
        self._info = {s[0]: SignalInfo(*s) for s in run.signals()}
        self._time: Any = None

    @property
    def time(self) -> np.ndarray:
        """The instants of the rows."""
        if self._time is None:
            import numpy as np

            self._time = np.frombuffer(self._run.time, dtype=np.float64) if len(self._run.time) else np.empty(0)
        return self._time

    @property
    def reached(self) -> float | None:
        """The time of the last row."""
        return float(self.time[-1]) if len(self.time) else None

    @property
    def names(self) -> list[str]:
        """Names of all signals, without ``time``."""
        return list(self._info)

    @property
    def events(self) -> list[Event]:
        """Events with the relations that changed."""
        return [Event(t, tuple(changes)) for t, changes in self._run.events()]

    @property
    def stats(self) -> dict[str, Any]:
        """What was done: steps, evaluations, seconds, notes, warnings (as ``acausal simulate --format json`` has it)."""
        text = self._run.stats()
        return json.loads(text) if text else {}

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._run.model

    def info(self, name: str) -> SignalInfo:
        """Unit, description and type of a signal."""
        if name not in self._info:
            raise self._unknown(name)
        return self._info[name]

    def unit(self, name: str) -> str:
        """Unit of a signal in Modelica notation."""
        return self.info(name).unit

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a signal at all instants; of an array all elements, as an array of one more dimension."""
        values = self._values(name)
        if values is not None:
            return values
        if name.replace(" ", "").lower() == "time":
            return self.time
        elements = self._elements(name.replace(" ", ""))
        if not elements:
            raise self._unknown(name)
        import numpy as np

        shape = tuple(max(axis) for axis in zip(*(s for s, _ in elements)))
        found = np.full((len(self.time), *shape), np.nan)
        for subscripts, element in elements:
            found[(slice(None), *(s - 1 for s in subscripts))] = self._values(element)
        return found

    def _values(self, name: str) -> Any:
        values = self._run.values(name)
        if values is None:
            return None
        import numpy as np

        if isinstance(values, float):
            return np.broadcast_to(np.float64(values), (len(self.time),))
        if isinstance(values, list):
            return np.array(values)
        return np.frombuffer(values, dtype=np.float64) if len(values) else np.empty(0)

    def _elements(self, name: str) -> list[tuple[tuple[int, ...], str]]:
        """Elements of an array, or of a variable in an array of components, with all their subscripts."""
        found = []
        for element in self._info:
            if "[" in element and _SUBSCRIPTS.sub("", element) == name:
                subscripts = ",".join(_SUBSCRIPTS.findall(element)).split(",")
                found.append((tuple(int(s) for s in subscripts), element))
        return found

    def _unknown(self, name: str) -> KeyError:
        similar = difflib.get_close_matches(name, self._info, n=3)
        hint = f"; similar: {', '.join(similar)}" if similar else ""
        return KeyError(f"the result has no signal {name!r}{hint}")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._run.values(name) is not None or bool(self._elements(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._info)

    def __len__(self) -> int:
        return len(self._info)

    def keys(self) -> list[str]:
        """Names of all signals."""
        return self.names

    def values(self) -> Iterator[np.ndarray]:
        """Values of all signals."""
        return (self[name] for name in self)

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """Names and values of all signals."""
        return ((name, self[name]) for name in self)

    def get(self, name: str, default: Any = None) -> Any:
        """Values of a signal, or ``default`` if there is none of this name."""
        return self[name] if name in self else default

    def at(self, time: float, name: str) -> float:
        """The value of a signal at a time, linear between rows; at an event the value after it.

        >>> import acausal as ac
        >>> r = ac.loads("model Ramp Real x = 2*time; end Ramp;").simulate(stop=1)
        >>> r.at(0.333, "x")
        0.666
        """
        import numpy as np

        t, x = self.time, self[name]
        if not t[0] <= time <= t[-1]:
            raise ValueError(f"time = {time} lies outside of {t[0]} to {t[-1]}")
        k = int(np.searchsorted(t, time, side="right"))
        if k == len(t) or t[k - 1] == time:
            return float(x[k - 1])
        return float(x[k - 1] + (x[k] - x[k - 1]) * ((time - t[k - 1]) / (t[k] - t[k - 1])))

    def to_pandas(self) -> Any:
        """All signals as a DataFrame with the time as index."""
        import pandas as pd

        columns = {name: self[name] for name in self}
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def to_polars(self) -> Any:
        """All signals as a DataFrame of polars, with a column ``time``; without a copy where polars can."""
        import polars as pl

        return pl.DataFrame(self)

    def to_xarray(self) -> Any:
        """All signals as a Dataset over ``time``; parameters are scalars. Units are in the attributes."""
        import xarray as xr

        variables = {}
        for name, info in self._info.items():
            attributes = {k: v for k, v in (("units", info.unit), ("long_name", info.description)) if v}
            values = self._run.values(name)
            if isinstance(values, float):
                variables[name] = ((), values, attributes)
            else:
                variables[name] = (("time",), self[name], attributes)
        return xr.Dataset(variables, coords={"time": ("time", self.time, {"units": "s"})}, attrs={"model": self.model})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The result as a stream of the Arrow C data interface, for polars, pyarrow, DuckDB and others."""
        return self._run.arrow_stream()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a result file; the extension ``.csv``, ``.mat`` or ``.parquet`` chooses the format."""
        self._run.write(os.fspath(path))

    def _drawn(self, names: Sequence[str]) -> list[str]:
        """Names of single signals; arrays are taken apart."""
        if not names:
            varying = [n for n in self if not isinstance(self._run.values(n), float)]
            return varying[:_DRAWN]
        found = []
        for name in names:
            elements = [] if self._values(name) is not None else [e for _, e in self._elements(name)]
            if not elements and self._values(name) is None:
                raise self._unknown(name)
            found.extend(elements or [name])
        return found

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draws signals over time with matplotlib and gives the axes; without names some of them."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as e:
            raise ImportError("plot() needs matplotlib: pip install matplotlib (or look at r.svg())") from e
        if ax is None:
            _, ax = plt.subplots()
        for name in self._drawn(names):
            unit = self.unit(name)
            ax.plot(self.time, self[name], label=f"{name} [{unit}]" if unit else name)
        ax.set_xlabel("time [s]")
        ax.set_title(self.model)
        ax.legend()
        return ax

    def svg(self, *names: str) -> str:
        """A drawing of signals as SVG, which needs no other package."""
        return self._run.svg(self._drawn(names))

    def _repr_html_(self) -> str:
        return f"<div><code>{html.escape(repr(self))}</code></div>{self.svg()}"

    def __repr__(self) -> str:
        span = f", time {self.time[0]:g} to {self.time[-1]:g}" if len(self.time) else ""
        return f"<Result of {self.model}: {len(self._info)} signals, {len(self.time)} rows{span}>"
