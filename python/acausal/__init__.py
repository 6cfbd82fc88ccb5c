"""Simulates physical systems that are described by equations in the Modelica language.

>>> import acausal as ac
>>> m = ac.loads("model Decay parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end Decay;")
>>> r = m.simulate(stop=2, set={"k": 0.5})
>>> print(f"{r['x'][-1]:.4f}")
0.3679

What is imported here is the interface; modules whose names begin with an underscore are not.
"""

from ._acausal import __version__
from ._errors import CompileError, Diagnostic, Error, Interrupted, SettingError, SimulationError
from ._model import Model, Parameter, Parameters, load, loads
from ._result import Event, Result

__all__ = [
    "CompileError",
    "Diagnostic",
    "Error",
    "Event",
    "Interrupted",
    "Model",
    "Parameter",
    "Parameters",
    "Result",
    "SettingError",
    "SimulationError",
    "__version__",
    "load",
    "loads",
]
