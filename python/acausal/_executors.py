"""Where the cases of a sweep are simulated: executors of ``concurrent.futures``, Dask, Ray, joblib.

Each is sent the model once, or once with each part of some cases where it has no way to keep it; a process makes the machine code once (``_model._unpickle``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._sweep import Done, Part, run_part

if TYPE_CHECKING:
    from ._model import Model


def submit(executor: Any, model: Model, parts: Sequence[Part]) -> Iterable[Done]:
    """Has the parts simulated and gives what comes back, in any order."""
    if executor == "ray" or getattr(executor, "__name__", "") == "ray":
        return _ray(model, parts)
    if executor == "joblib" or type(executor).__module__.startswith("joblib"):
        return _joblib(executor, model, parts)
    if hasattr(executor, "scatter") and hasattr(executor, "submit"):
        return _dask(executor, model, parts)
    if hasattr(executor, "submit"):
        return _futures(executor, model, parts)
    raise TypeError(f'executor is one of concurrent.futures, a Dask Client, "ray" or "joblib", not {executor!r}')


def _futures(executor: Any, model: Model, parts: Sequence[Part]) -> Iterator[Done]:
    from concurrent.futures import as_completed

    waiting = [executor.submit(run_part, model, part) for part in parts]
    try:
        for future in as_completed(waiting):
            yield future.result()
    finally:
        for future in waiting:
            future.cancel()


def _dask(client: Any, model: Model, parts: Sequence[Part]) -> Iterator[Done]:
    from distributed import as_completed

    # A task rather than data that was sent: if the worker that has it is lost, the model is sent again.
    shared = client.submit(_same, model, key=f"acausal-{id(model)}", pure=True)
    waiting = [client.submit(run_part, shared, part, pure=False, retries=3) for part in parts]
    try:
        for future in as_completed(waiting):
            yield future.result()
    finally:
        client.cancel(waiting)


def _same(model: Model) -> Model:
    return model


def _ray(model: Model, parts: Sequence[Part]) -> Iterator[Done]:
    import ray

    if not ray.is_initialized():
        ray.init()
    shared = ray.put(model)
    remote = ray.remote(max_retries=3)(run_part)
    waiting = [remote.remote(shared, part) for part in parts]
    try:
        while waiting:
            ready, waiting = ray.wait(waiting)
            for reference in ready:
                yield ray.get(reference)
    finally:
        for reference in waiting:
            ray.cancel(reference)


def _joblib(executor: Any, model: Model, parts: Sequence[Part]) -> Iterator[Done]:
    import joblib

    pool = executor if isinstance(executor, joblib.Parallel) else joblib.Parallel(n_jobs=-1, return_as="generator_unordered")
    yield from pool(joblib.delayed(run_part)(model, part) for part in parts)
