"""Many simulations of one model.

>>> import acausal as ac
>>> m = ac.loads("model D parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end D;")
>>> s = m.sweep({"k": [1, 2, 3]}, stop=1, interval=0.5)
>>> s
<Sweep of D: 3 cases over k, 1 signals at 3 instants>
>>> s["x"].round(3).tolist()
[[1.0, 0.607, 0.368], [1.0, 0.368, 0.135], [1.0, 0.223, 0.05]]
>>> m.sweep({"k": ac.normal(1, 0.1)}, n=4, stop=1, reduce=lambda r: {"last": r["x"][-1]}).reduced["last"].shape
(4,)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _acausal
from ._design import Case, table
from ._errors import Diagnostic, Error, Interrupted, SimulationError

if TYPE_CHECKING:
    import numpy as np

    from ._model import Model

#: Cases that an executor gets at once, at most, and how many such parts a small sweep is cut into.
_PART = 1000
_PARTS = 64


class CaseFailure(NamedTuple):
    """A case that failed."""

    case: int
    code: str
    text: str
    time: float | None


class Sweep:
    """What a sweep gave. ``s["x"]`` has a row for each case and a column for each instant of :attr:`time`; NaN where a case did not get to."""

    def __init__(self, model: str, names: list[str], cases: list[Case], grid: tuple[Any, Any, int]) -> None:
        import numpy as np

        self.model = model
        #: The parameters that vary.
        self.parameters = names
        self._cases = cases
        #: The instants that all cases share.
        self.time = np.array(grid[0])
        self._signals = {s[0]: (k, s[1], s[2]) for k, s in enumerate(grid[1])}
        #: For each case ``finished``, ``terminated``, ``failed``, or ``pending`` if it was not simulated.
        self.status = np.full(len(cases), "pending", dtype="<U10")
        #: The cases that failed, by number.
        self.failures: list[CaseFailure] = []
        #: What ``reduce`` gave: an array for each name, or one array.
        self.reduced: Any = None
        #: Where the results are, if they were stored.
        self.directory: str | None = None
        self._numbers: Any = None

    @property
    def cases(self) -> dict[str, np.ndarray]:
        """The values of each parameter, case by case."""
        import numpy as np

        return {name: np.array([case[k] for case in self._cases]) for k, name in enumerate(self.parameters)}

    @property
    def names(self) -> list[str]:
        """Names of the signals."""
        return list(self._signals)

    def __len__(self) -> int:
        return len(self._cases)

    def __contains__(self, name: object) -> bool:
        return name in self._signals

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __getitem__(self, name: str) -> np.ndarray:
        """Values of a signal: case by instant."""
        if name == "time":
            return self.time
        if name not in self._signals:
            raise KeyError(f"the sweep has no signal {name!r}")
        if self._numbers is None:
            where = f"they are in {self.directory}" if self.directory else "reduce= keeps what it returns only"
            raise ValueError(f"the trajectories are not in memory: {where}")
        return self._numbers[:, self._signals[name][0], :]

    def to_xarray(self) -> Any:
        """A Dataset over ``case`` and ``time``, with the parameters as coordinates of the cases."""
        import xarray as xr

        coordinates: dict[str, Any] = {"case": range(len(self)), "status": ("case", self.status)}
        for name, values in self.cases.items():
            if values.ndim == 1:
                coordinates[name] = ("case", values)
        variables = {}
        if self._numbers is not None:
            coordinates["time"] = ("time", self.time, {"units": "s"})
            for name, (_, unit, description) in self._signals.items():
                attributes = {k: v for k, v in (("units", unit), ("long_name", description)) if v}
                variables[name] = (("case", "time"), self[name], attributes)
        for name, values in self._reduced_columns().items():
            variables[name] = (("case", *(f"{name}_{k}" for k in range(1, values.ndim))), values)
        return xr.Dataset(variables, coords=coordinates, attrs={"model": self.model})

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each case: its parameters, its status, what ``reduce`` gave, else the last values of the signals."""
        import pandas as pd

        columns: dict[str, Any] = {name: list(values) for name, values in self.cases.items()}
        columns["status"] = self.status
        columns.update({name: list(values) for name, values in self._reduced_columns().items()})
        if self._numbers is not None:
            columns.update({name: self[name][:, -1] for name in self})
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="case"))

    def _reduced_columns(self) -> dict[str, Any]:
        if self.reduced is None:
            return {}
        return self.reduced if isinstance(self.reduced, dict) else {"reduced": self.reduced}

    def scan(self) -> Any:
        """The stored trajectories as a LazyFrame of polars: ``case``, ``time`` and the signals."""
        if self.directory is None:
            raise ValueError("the sweep was not stored: give output=DIRECTORY")
        import polars as pl

        return pl.scan_parquet(os.path.join(self.directory, "chunk-*.parquet"))

    def __repr__(self) -> str:
        over = ", ".join(self.parameters)
        failed = f", {len(self.failures)} failed" if self.failures else ""
        pending = int((self.status == "pending").sum())
        left = f", {pending} pending" if pending else ""
        what = "reduced" if self.reduced is not None else f"{len(self._signals)} signals at {len(self.time)} instants"
        return f"<Sweep of {self.model}: {len(self)} cases over {over}{failed}{left}, {what}>"


class Part(NamedTuple):
    """What a worker is sent: some cases. The model goes with it once, not with each case."""

    given: dict[str, Any]
    names: list[str]
    first: int
    cases: list[Case]
    reduce: Callable[[Any], Any] | None


class Done(NamedTuple):
    """What a worker sends back."""

    first: int
    endings: list[Any]
    numbers: Any
    reduced: list[Any]


def run_part(model: Model, part: Part, threads: int = 1) -> Done:
    """Simulates the cases of a part, in the process that calls it."""
    import numpy as np

    if part.reduce is not None:
        return _reduce_part(model, part, threads)
    (block, endings), stopped = _acausal.sweep(model._core, part.given, part.names, part.cases, threads, None)
    if stopped is not None:
        raise stopped
    return Done(part.first, endings, np.frombuffer(block), [])


def _reduce_part(model: Model, part: Part, threads: int) -> Done:
    from concurrent.futures import ThreadPoolExecutor

    from ._result import Result

    def one(case: Case) -> tuple[Any, Any]:
        given = {**part.given, "set": {**part.given["set"], **dict(zip(part.names, case))}}
        try:
            run = model._core.simulate(given, None)
        except Error as e:
            return ("failed", e.code, str(e), e.time), None
        ended = "terminated" if Result(run).stats.get("terminated") else "finished"
        return (ended, None, None, None), part.reduce(Result(run))

    if threads == 1:
        pairs = [one(case) for case in part.cases]
    else:
        with ThreadPoolExecutor(threads) as pool:
            pairs = list(pool.map(one, part.cases))
    return Done(part.first, [p[0] for p in pairs], None, [p[1] for p in pairs])


def sweep(
    model: Model,
    parameters: Any,
    *,
    design: str | None = None,
    n: int | None = None,
    seed: int = 0,
    executor: Any = None,
    threads: int | None = None,
    reduce: Callable[[Any], Any] | None = None,
    errors: str = "keep",
    output: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    given: dict[str, Any],
) -> Sweep:
    """See :meth:`acausal.Model.sweep`."""
    if errors not in ("keep", "raise"):
        raise ValueError(f'errors is "keep" or "raise", not {errors!r}')
    if output is not None and reduce is not None:
        raise ValueError("output= stores trajectories; with reduce= there are none")
    names, cases = table(parameters, design, n, seed)
    clash = [name for name in names if name in given["set"]]
    if clash:
        raise ValueError(f"{clash[0]!r} is varied and set")
    _acausal.sweep_check(model._core, given, names, cases)
    grid = _acausal.sweep_grid(model._core, given)
    found = Sweep(model.name, names, cases, grid)
    case_len = len(grid[0]) * len(grid[1])
    directory = None
    if output is not None:
        size = chunk or grid[2]
        found.directory = os.fspath(output)
        directory = _acausal.Directory(model._core, found.directory, given, names, cases, size)
    elif executor is None and reduce is None:
        size = len(cases)
    else:
        size = chunk or min(_PART, max(1, -(-len(cases) // _PARTS)))
    if directory is None and reduce is None:
        _allocate(found, case_len)
    parts = []
    for first in range(0, len(cases), size):
        if directory is not None and directory.has(first // size):
            continue
        parts.append(Part(given, names, first, cases[first : first + size], reduce))
    collect = _Collector(found, directory, size, case_len, errors, progress, reduce is not None)
    before = len(cases) - sum(len(p.cases) for p in parts)
    try:
        collect.begin(before)
        if executor is None:
            _here(model, parts, threads or os.cpu_count() or 1, collect)
        else:
            from ._executors import submit

            for done in submit(executor, model, parts):
                collect(done)
    except KeyboardInterrupt:
        collect.finish()
        raise Interrupted(found) from None
    finally:
        collect.close()
    collect.finish()
    return found


def _allocate(found: Sweep, case_len: int) -> None:
    import numpy as np

    shape = (len(found), len(found.names), len(found.time))
    try:
        found._numbers = np.full(shape, np.nan)
    except MemoryError:
        size = 8e-9 * len(found) * case_len
        raise MemoryError(
            f"the trajectories of all cases need {size:.1f} GB; choose signals (observe=), a longer interval, reduce= or output="
        ) from None


def _here(model: Model, parts: Sequence[Part], threads: int, collect: _Collector) -> None:
    """In threads of this process."""
    import numpy as np

    for part in parts:
        if part.reduce is not None:
            collect(_reduce_part(model, part, threads))
            continue
        tell = collect.tell
        (block, endings), stopped = _acausal.sweep(model._core, part.given, part.names, part.cases, threads, tell)
        complete = stopped is None
        if complete or collect.directory is None:
            collect(Done(part.first, endings, np.frombuffer(block), []))
        if stopped is not None:
            raise stopped


class _Collector:
    """Puts parts where they belong and tells the progress."""

    def __init__(
        self,
        found: Sweep,
        directory: Any,
        size: int,
        case_len: int,
        errors: str,
        progress: Any,
        reduces: bool,
    ) -> None:
        self.found = found
        self.directory = directory
        self.size = size
        self.case_len = case_len
        self.errors = errors
        self.reduced: list[Any] | None = [None] * len(found) if reduces else None
        self.done = 0
        self.began = time.monotonic()
        self.before = 0
        self.progress = progress
        self.bar: Any = None
        if progress is True:
            from ._progress import Bar

            self.bar = Bar(found.model)

    def begin(self, before: int) -> None:
        """Cases that an earlier sweep has done."""
        self.before = self.done = before

    def tell(self, more: int = 0, failed: int = 0) -> None:
        """Tells that so many cases of the present part have ended too."""
        done, total = self.done + more, len(self.found)
        if self.bar is not None:
            passed = max(time.monotonic() - self.began, 1e-9)
            rate = (done - self.before) / passed
            self.bar.show(done / total if total else 1.0, f", {done} of {total} cases, {rate:.0f} per second")
        elif callable(self.progress):
            self.progress(done, total)

    def __call__(self, part: Done) -> None:
        found = self.found
        for k, ending in enumerate(part.endings):
            if ending is None:
                continue
            case = part.first + k
            found.status[case] = ending[0]
            if ending[0] == "failed":
                failure = CaseFailure(case, ending[1], ending[2], ending[3])
                if self.errors == "raise":
                    raise _as_error(failure, found)
                found.failures.append(failure)
        count = len(part.endings)
        if self.directory is not None:
            failures = [(e[1], e[2], e[3]) if e[0] == "failed" else None for e in part.endings]
            self.directory.write(part.first // self.size, part.first, part.numbers, failures)
        elif self.reduced is not None:
            self.reduced[part.first : part.first + count] = part.reduced
        else:
            shape = found._numbers.shape[1:]
            found._numbers[part.first : part.first + count] = part.numbers.reshape(count, *shape)
        self.done += count
        self.tell()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()

    def finish(self) -> None:
        """Sorts what came in any order."""
        self.found.failures.sort()
        if self.directory is not None:
            _read_manifest(self.found)
        if self.reduced is not None:
            self.found.reduced = _columns(self.reduced)


def _read_manifest(found: Sweep) -> None:
    """The status of all cases that are in the directory, those of earlier runs too."""
    import json

    failures = []
    with open(os.path.join(found.directory or "", "manifest.jsonl"), encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            entry = json.loads(line)
            here = found.status[entry["first"] : entry["first"] + entry["cases"]]
            here[here == "pending"] = "finished"
            for f in entry["failed"]:
                found.status[f["case"]] = "failed"
                failures.append(CaseFailure(f["case"], f["code"], f["message"], f["time"]))
    found.failures = sorted(failures)


def _as_error(failure: CaseFailure, found: Sweep) -> SimulationError:
    values = dict(zip(found.parameters, found._cases[failure.case]))
    diagnostic = Diagnostic("error", failure.code, failure.text.splitlines()[0])
    error = SimulationError(f"case {failure.case} with {values}:\n{failure.text}", [diagnostic], failure.time)
    error.case = failure.case  # type: ignore[attr-defined]
    return error


def _columns(rows: list[Any]) -> Any:
    """What ``reduce`` gave, as arrays; NaN stands for cases that failed."""
    import numpy as np

    known = [r for r in rows if r is not None]
    if known and all(isinstance(r, Mapping) for r in known):
        return {key: _column([None if r is None else r[key] for r in rows]) for key in known[0]}
    return _column(rows) if known else np.full(len(rows), np.nan)


def _column(values: list[Any]) -> Any:
    import numpy as np

    shape = next(np.shape(v) for v in values if v is not None)
    missing = np.full(shape, np.nan) if shape else np.nan
    try:
        return np.array([missing if v is None else v for v in values])
    except ValueError:
        # Of different lengths, say.
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
