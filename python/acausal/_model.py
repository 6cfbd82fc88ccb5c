"""Models: loading, parameters, simulation.

>>> import acausal as ac
>>> m = ac.loads('''
... model Spring "A mass on a spring"
...   parameter Real m(unit = "kg", min = 0) = 1 "Mass";
...   parameter Real c(unit = "N/m") = 4;
...   parameter Integer n = 2 "Number of masses";
...   Real s[n](each start = 1, each fixed = true);
...   Real v[n](each start = 0, each fixed = true);
... equation
...   der(s) = v;
...   m*der(v) = -c*s;
... end Spring;
... ''')
>>> m
<Model Spring: 4 unknowns, 3 parameters>
>>> m.parameters["m"]
Parameter(name='m', value=1.0, unit='kg', display_unit='', min=0.0, max=None, description='Mass', type='Real', shape=(), literals=(), structural=False)
>>> m.parameters["n"].structural
True
>>> m.simulate(stop=1, set={"n": 3})
Traceback (most recent call last):
acausal._errors.SettingError: error[wrong-setting]: `n` cannot be set any more: it is final, or it decided about the equations when the model was compiled
...
>>> m.simulate(stop=1, set={"n": 3}, recompile=True)["s"].shape
(501, 3)
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from . import _acausal
from ._errors import Diagnostic, diagnostics
from ._result import Result
from ._stepping import LinearModel, Simulation, linear_model
from ._sweep import Sweep

#: A value of a parameter: a number, True or False, the name of a literal, or a sequence of these.
Value = Any
Progress = Callable[[float, float], Any]

#: Unpickled models whose machine code this process keeps.
_KEPT = 16


@dataclass(frozen=True)
class Parameter:
    """A parameter as the model declares it."""

    name: str
    #: The value that the model gives; None where it is computed at the start.
    value: Value
    unit: str
    display_unit: str
    min: float | None
    max: float | None
    description: str
    type: str
    #: Empty for a scalar.
    shape: tuple[int, ...]
    #: Of an enumeration.
    literals: tuple[str, ...]
    #: Whether it can be set only by compiling again.
    structural: bool


class Parameters(Mapping[str, Parameter]):
    """The parameters of a model by name, in order of declaration."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self._all = {p["name"]: _parameter(p) for p in found}

    def __getitem__(self, name: str) -> Parameter:
        if name in self._all:
            return self._all[name]
        similar = difflib.get_close_matches(name, self._all, n=3)
        hint = f"; similar: {', '.join(similar)}" if similar else ""
        raise KeyError(f"the model has no parameter {name!r}{hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        lines = (f"{p.name} = {p.value}{' ' + p.unit if p.unit else ''}" for p in self._all.values())
        return f"<Parameters: {', '.join(lines)}>"

    def _repr_html_(self) -> str:
        import html

        def row(*cells: object, tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

        rows = (row(p.name, p.value, p.unit, p.description) for p in self._all.values())
        return f"<table>{row('parameter', 'value', 'unit', 'description', tag='th')}{''.join(rows)}</table>"


def _parameter(p: dict[str, Any]) -> Parameter:
    def one(x: float) -> Value:
        if p["type"] == "Boolean":
            return bool(x)
        if p["type"] == "Integer":
            return int(x)
        if p["type"] == "enumeration":
            return p["literals"][int(x) - 1]
        return x

    value, shape = p["default"], tuple(p["dims"])
    if value is not None:
        value = _shaped([one(x) for x in value], shape) if shape else one(value[0])
    return Parameter(
        name=p["name"],
        value=value,
        unit=p["unit"],
        display_unit=p["display_unit"],
        min=p["min"],
        max=p["max"],
        description=p["description"],
        type=p["type"],
        shape=shape,
        literals=tuple(p["literals"] or ()),
        structural=p["structural"],
    )


def _shaped(values: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Nested lists."""
    for size in reversed(shape[1:]):
        values = [values[k : k + size] for k in range(0, len(values), size)] if size else []
    return values


class Model:
    """A compiled model. It can be pickled, and used in several threads at once."""

    def __init__(self, core: _acausal.Core, origin: tuple[str, str | None, dict[str, Any]]) -> None:
        self._core = core
        self._origin = origin
        self._parameters: Parameters | None = None

    @property
    def name(self) -> str:
        """Name of the class."""
        return self._core.name

    @property
    def parameters(self) -> Parameters:
        """The parameters by name."""
        if self._parameters is None:
            self._parameters = Parameters(self._core.parameters())
        return self._parameters

    @property
    def signals(self) -> list[str]:
        """Names of all signals that a result has, but for derivatives (``der(x)`` in ``observe``)."""
        return self._core.signals()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and notes of the compiler."""
        return diagnostics(self._core.diagnostics()[1])

    @property
    def experiment(self) -> dict[str, float]:
        """Start, stop, interval and tolerance of a simulation that is told nothing else."""
        return dict(zip(("start", "stop", "interval", "tolerance"), self._core.experiment))

    def explain(self) -> dict[str, Any]:
        """What the compiler made of the model: what it removed and differentiated, blocks, states, equations (as ``acausal explain --format json``).

        >>> import acausal as ac
        >>> m = ac.loads("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;")
        >>> m.explain()["states"]
        ['x']
        """
        target, text, options = self._origin
        if target.endswith(".acm"):
            raise ValueError(f"{target} is compiled: it has no text that could be explained")
        return json.loads(_acausal.Core.explain(target, text, options))

    def recompile(self, set: Mapping[str, Value] | None = None) -> Model:
        """The model compiled again, with other values for parameters that decide about its equations."""
        target, text, options = self._origin
        if target.endswith(".acm"):
            raise ValueError(f"{target} is compiled: compile the Modelica file that it was made from")
        names = {s.split("=", 1)[0]: s for s in options["set"]}
        names.update({s.split("=", 1)[0]: s for s in _settings(set)})
        return _compile(target, text, {**options, "set": list(names.values())})

    def simulate(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, Value] | None = None,
        inputs: Any = None,
        observe: str | Sequence[str] | None = None,
        progress: bool | Progress = False,
        steady_state: bool = False,
        max_steps: int | None = None,
        max_rows: int | None = None,
        max_events: int | None = None,
        recompile: bool = False,
    ) -> Result:
        """Simulates from ``start`` to ``stop`` and gives the trajectories.

        What is not given is as the ``experiment`` annotation says. ``set`` gives parameters and start values (``"x.start"``) other values; names that the model does not have
        are errors, and so are those that decide about its equations, unless ``recompile`` allows to compile it again. ``observe`` chooses signals by name or pattern
        (``"*.v"``, ``"der(x)"``). ``inputs`` says what top-level inputs are over time: a number, ``(times, values)`` with lines between them (two equal times are a jump),
        :func:`hold`, a function of time, a Series over time; or a DataFrame with a column for each. ``progress`` is True for a bar, or is called with the time and the fraction done. Ctrl-C raises :class:`Interrupted`, which
        has the result so far.
        """
        if recompile and set:
            known = {name for name in set if name not in self.parameters or not self.parameters[name].structural}
            fixed = {name: set[name] for name in set if name not in known}
            if fixed:
                rest = {name: set[name] for name in known}
                again = self.recompile(fixed)
                settings = dict(start=start, interval=interval, tolerance=tolerance, inputs=inputs, observe=observe, progress=progress)
                limits = dict(max_steps=max_steps, max_rows=max_rows, max_events=max_events)
                return again.simulate(stop, set=rest, steady_state=steady_state, **settings, **limits)
        given = self._given(start, stop, interval, tolerance, set, inputs, observe)
        given.update(steady_state=steady_state, max_steps=max_steps, max_rows=max_rows, max_events=max_events)
        if not progress:
            return Result(self._core.simulate(given, None))
        from ._progress import reporter

        with reporter(progress, self.name) as report:
            return Result(self._core.simulate(given, report))

    def sweep(
        self,
        parameters: Any,
        *,
        design: str | None = None,
        n: int | None = None,
        seed: int = 0,
        executor: Any = None,
        threads: int | None = None,
        reduce: Callable[[Result], Any] | None = None,
        errors: str = "keep",
        output: str | os.PathLike[str] | None = None,
        chunk: int | None = None,
        progress: bool | Callable[[int, int], Any] = False,
        start: float | None = None,
        stop: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        set: Mapping[str, Value] | None = None,
        inputs: Any = None,
        observe: str | Sequence[str] | None = None,
    ) -> Sweep:
        """Simulates many cases, each with other values of parameters and start values.

        ``parameters`` says what each name takes: a list (:func:`linspace`), a distribution (:func:`normal`, :func:`uniform`); or it is a table of cases, a DataFrame
        or a list of dictionaries. ``design`` is ``"factorial"`` (all combinations; what lists mean without ``n``), ``"lhs"`` (a latin hypercube of ``n`` cases), ``"sobol"`` (needs scipy)
        or ``"table"`` (lists of one length).

        Cases are simulated in threads of this process, or by ``executor``: one of ``concurrent.futures``, a Dask ``Client``, ``"ray"`` or ``"joblib"``. Each case keeps its
        own status; a failed one is in ``failures`` (``errors="raise"`` raises the first). What is kept are the signals at the output instants, as arrays of cases by
        instants; or what ``reduce`` makes of each :class:`Result`; or, with ``output``, nothing but Parquet files in a directory, from which an interrupted
        sweep goes on when it is called again. ``progress`` is True for a bar, or is called with the numbers of cases done and in all.
        """
        from ._sweep import sweep

        given = self._given(start, stop, interval, tolerance, set, inputs, observe)
        return sweep(
            self,
            parameters,
            design=design,
            n=n,
            seed=seed,
            executor=executor,
            threads=threads,
            reduce=reduce,
            errors=errors,
            output=output,
            chunk=chunk,
            progress=progress,
            given=given,
        )

    def start(
        self,
        time: float | None = None,
        *,
        tolerance: float | None = None,
        set: Mapping[str, Value] | None = None,
        inputs: Mapping[str, float] | None = None,
        observe: str | Sequence[str] | None = None,
    ) -> Simulation:
        """A simulation at its start, which goes on step by step, with other inputs and parameters in between."""
        return Simulation(self._core, self._given(time, None, None, tolerance, set, inputs, observe))

    def linearize(
        self,
        t: float | None = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        set: Mapping[str, Value] | None = None,
        given: Any = None,
        tolerance: float | None = None,
    ) -> LinearModel:
        """The linear model at time ``t`` (the start, if nothing is said) of a simulation with these parameters and ``given`` inputs.

        Without ``inputs`` and ``outputs`` they are those that the model declares at its top level. The states come from the exact Jacobian; inputs and outputs
        are differences that are exact up to rounding where the model is linear in them.
        """
        start = self.experiment["start"]
        settings = self._given(start, start if t is None else t, None, tolerance, set, given, None)
        names = None if inputs is None else list(inputs)
        shown = None if outputs is None else list(outputs)
        return linear_model(_acausal.linearize(self._core, settings, names, shown))

    def _given(
        self,
        start: float | None,
        stop: float | None,
        interval: float | None,
        tolerance: float | None,
        set: Mapping[str, Value] | None,
        inputs: Any,
        observe: str | Sequence[str] | None,
    ) -> dict[str, Any]:
        """Settings as the Rust part wants them."""
        if isinstance(observe, str):
            observe = [observe]
        given = {
            "start": start,
            "stop": stop,
            "interval": interval,
            "tolerance": tolerance,
            "set": dict(set or {}),
            "observe": None if observe is None else list(observe),
        }
        if inputs is not None:
            from ._inputs import courses

            usual = self.experiment
            first = usual["start"] if start is None else start
            last = max(usual["stop"], first) if stop is None else stop
            given["inputs"] = courses(inputs, first, last, usual["tolerance"] if tolerance is None else tolerance)
        return given

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the compiled model in a file ``.acm``, which :func:`load` and ``acausal simulate`` take without the sources and libraries."""
        path = os.fspath(path)
        if not path.endswith(".acm"):
            raise ValueError(f"{path} does not end in .acm, by which a compiled model is known")
        with open(path, "wb") as file:
            file.write(self._core.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._core.to_bytes(), self._origin)

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self._core.unknowns} unknowns, {len(self.parameters)} parameters>"


# Models that were unpickled, by what they were made from, so that their machine code is made once in a process.
_models: OrderedDict[bytes, _acausal.Core] = OrderedDict()
_models_lock = Lock()


def _unpickle(content: bytes, origin: tuple[str, str | None, dict[str, Any]]) -> Model:
    key = hashlib.blake2b(content, digest_size=16).digest()
    with _models_lock:
        core = _models.get(key)
        if core is None:
            core = _acausal.Core.from_bytes("pickled model", content)
            _models[key] = core
            while len(_models) > _KEPT:
                _models.popitem(last=False)
        _models.move_to_end(key)
    return Model(core, origin)


def _text(value: Value) -> str:
    """A value as Modelica writes it; a string is an expression already."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Sequence):
        return "{" + ", ".join(_text(v) for v in value) + "}"
    raise TypeError(f"{value!r} is no value of a parameter")


def _settings(set: Mapping[str, Value] | None) -> list[str]:
    return [f"{name}={_text(value)}" for name, value in (set or {}).items()]


def _compile(target: str, text: str | None, options: dict[str, Any]) -> Model:
    return Model(_acausal.Core.load(target, text, options), (target, text, options))


def _options(class_name: str | None, libraries: Sequence[Any], set: Mapping[str, Value] | None, more: dict[str, Any]) -> dict[str, Any]:
    if isinstance(libraries, (str, os.PathLike)):
        libraries = [libraries]
    return {"class_name": class_name, "libraries": [os.fspath(p) for p in libraries], "set": _settings(set), **more}


def load(
    model: str | os.PathLike[str],
    *,
    class_name: str | None = None,
    libraries: Sequence[str | os.PathLike[str]] = (),
    set: Mapping[str, Value] | None = None,
    **structure: Any,
) -> Model:
    """Compiles a file ``.mo``, or a class of a library, or loads a compiled model ``.acm``.

    Of a file with several classes the last one is taken, or ``class_name``. Libraries are searched in the directories ``libraries`` and in the environment variable
    ``MODELICAPATH``. ``set`` gives parameters other values before anything is compiled, array sizes included; a string is an expression of Modelica.
    ``structure`` are the options ``scalarise``, ``no_state_selection``, ``no_tearing`` and ``prefer_states`` of the command.
    """
    return _compile(os.fspath(model), None, _options(class_name, libraries, set, structure))


def loads(
    source: str,
    *,
    name: str = "<string>",
    class_name: str | None = None,
    libraries: Sequence[str | os.PathLike[str]] = (),
    set: Mapping[str, Value] | None = None,
    **structure: Any,
) -> Model:
    """Compiles a text; ``name`` is that of the file in messages. The rest is as for :func:`load`."""
    return _compile(name, source, _options(class_name, libraries, set, structure))
