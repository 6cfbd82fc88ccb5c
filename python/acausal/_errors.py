"""Failures as exceptions, with the text that the command prints.

>>> import acausal as ac
>>> try:
...     ac.loads("model M Real x; equation der(x) = y; end M;", name="M.mo")
... except ac.CompileError as e:
...     print(e.code, e.file, e.line)
unknown-name M.mo 1
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler or of a simulation."""

    severity: str
    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    notes: tuple[str, ...] = ()
    hint: str | None = None
    #: All places, as ``acausal --format json`` has them.
    labels: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


def diagnostics(text: str) -> list[Diagnostic]:
    """Messages from the JSON of the command."""
    found = []
    for d in json.loads(text):
        place = next((x for x in d["labels"] if "file" in x), {})
        start = place.get("start", {})
        found.append(
            Diagnostic(
                severity=d["severity"],
                code=d["code"],
                message=d["message"],
                file=place.get("file"),
                line=start.get("line"),
                column=start.get("column"),
                notes=tuple(d["notes"]),
                hint=d["hint"],
                labels=tuple(d["labels"]),
            )
        )
    return found


class Error(Exception):
    """What went wrong; ``str(e)`` is what the command prints.

    ``code`` is the stable name of the first error, ``file``, ``line`` and ``column`` where it is, ``hint`` what to do; ``diagnostics`` are all messages. ``time``
    and ``values`` belong to failures of a simulation, and ``result`` is what was computed before it.
    """

    def __init__(
        self,
        text: str,
        diagnostics: list[Diagnostic] | None = None,
        time: float | None = None,
        values: dict[str, float] | None = None,
        result: Any = None,
    ) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []
        first = next((d for d in self.diagnostics if d.severity == "error"), None)
        self.code = first.code if first else None
        self.message = first.message if first else text
        self.file = first.file if first else None
        self.line = first.line if first else None
        self.column = first.column if first else None
        self.hint = first.hint if first else None
        self.time = time
        self.values = values or {}
        self.result = result

    @classmethod
    def _of(cls, text: str, found: str, time: float | None, values: dict[str, float], run: Any) -> Error:
        return cls(text, diagnostics(found), time, values, _result(run))

    def __reduce__(self) -> tuple[Any, ...]:
        # What was computed may be large; it stays where it is.
        return type(self), (self.args[0], self.diagnostics, self.time, self.values)

    def __str__(self) -> str:
        return str(self.args[0])


class CompileError(Error):
    """The model is wrong."""


class SettingError(Error, ValueError):
    """A name or a value that was asked for is wrong: a parameter, a signal, a time."""


class SimulationError(Error):
    """The simulation failed; ``time`` says when, ``result`` has what was computed until then."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; ``result`` has what was computed until then, if there is something."""

    def __init__(self, result: Any = None) -> None:
        reached = getattr(result, "reached", None)
        at = f" at time = {reached:g}" if reached is not None else ""
        super().__init__(f"interrupted{at}")
        self.result = result

    @classmethod
    def _of(cls, run: Any) -> Interrupted:
        return cls(_result(run))


def _result(run: Any) -> Any:
    if run is None:
        return None
    from ._result import Result

    return Result(run)
