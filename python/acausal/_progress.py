"""What people see while a simulation runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

#: Quick work shows nothing.
_SHOW_AFTER = 0.5
_WIDTH = 30


class Bar:
    """A line on standard error that is written again and again."""

    def __init__(self, title: str, out: TextIO | None = None) -> None:
        self.title = title
        self.out = out or sys.stderr
        self.began = time.monotonic()
        self.shown = 0

    def show(self, fraction: float, more: str = "") -> None:
        passed = time.monotonic() - self.began
        if passed < _SHOW_AFTER:
            return
        fraction = min(max(fraction, 0.0), 1.0)
        done = round(fraction * _WIDTH)
        left = f", {passed / fraction - passed:.0f} s left" if fraction > 0 else ""
        line = f"{self.title} [{'#' * done}{'.' * (_WIDTH - done)}] {100 * fraction:3.0f} %{more}{left}"
        self.out.write("\r" + line.ljust(self.shown))
        self.out.flush()
        self.shown = len(line)

    def close(self) -> None:
        if self.shown:
            self.out.write("\n")
            self.out.flush()


@contextmanager
def reporter(progress: Any, title: str) -> Iterator[Callable[[float, float], Any]]:
    """A function of the time and the fraction done: the user's own, or that of a bar (True)."""
    if callable(progress):
        yield progress
        return
    bar = Bar(title)
    try:
        yield lambda t, fraction: bar.show(fraction)
    finally:
        bar.close()
