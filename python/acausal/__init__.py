"""Simulates physical systems that are described by equations in the Modelica language.

>>> import acausal as ac
>>> m = ac.loads("model Decay parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end Decay;")
>>> r = m.simulate(stop=2, set={"k": 0.5})
>>> print(f"{r['x'][-1]:.4f}")
0.3679

What is imported here is the interface; modules whose names begin with an underscore are not.
"""

from ._acausal import __version__
from ._design import Distribution, linspace, normal, uniform
from ._errors import CompileError, Diagnostic, Error, Interrupted, SettingError, SimulationError
from ._inputs import hold
from ._model import Model, Parameter, Parameters, load, loads
from ._result import Event, Result
from ._stepping import LinearModel, Simulation
from ._sweep import CaseFailure, Sweep

__all__ = [
    "CaseFailure",
    "CompileError",
    "Diagnostic",
    "Distribution",
    "Error",
    "Event",
    "Interrupted",
    "LinearModel",
    "Model",
    "Parameter",
    "Parameters",
    "Result",
    "SettingError",
    "Simulation",
    "SimulationError",
    "Sweep",
    "__version__",
    "hold",
    "linspace",
    "load",
    "loads",
    "normal",
    "uniform",
]
