"""The models of benches/models in acausal against SUNDIALS IDA with equations written by hand in NumPy (scikit-sundae, PyPI).

    python3 -m venv venv && venv/bin/pip install scikit-sundae
    cargo build --release -p acausal-bench
    venv/bin/python benches/against_sundae.py HeatEquations 1000,10000,100000 Heat2D 32,100

What is compared is not the same work: acausal reads Modelica text, compiles it and integrates; here somebody has written the
residual as vector operations and said how wide the band of the matrix is. IDA runs compiled code of its own. Every case
runs in a process of its own. Printed are seconds of CPU time from the text to the end for acausal; for IDA of the whole process (with
starting Python) and of the integration alone; the peaks of memory; and the ratio of IDA's integration to all of acausal.
Tolerances: relative 1e-6, absolute 1e-6, 10 output instants, on both sides.
"""

import os
import re
import sys

from measured import acausal, measured

LIMIT = int(os.environ.get("LIMIT", "300"))

CHILD = r"""
import resource, sys
import numpy as np
import sksundae as sun
family, n = sys.argv[1], int(sys.argv[2])
options = dict(rtol=1e-6, atol=1e-6, max_num_steps=1000000)
if family == "HeatEquations":
    stop, size, k = 0.1, n, float(n) ** 2
    def residual(t, y, yp, res):
        res[1:-1] = yp[1:-1] - k * (y[:-2] - 2 * y[1:-1] + y[2:])
        res[0] = yp[0] - k * (2 * (1 - np.exp(-10 * t)) - 3 * y[0] + y[1])
        res[-1] = yp[-1] - k * (y[-2] - y[-1])
    start = np.zeros(n)
    options.update(linsolver="band", lband=1, uband=1)
elif family == "Oscillators":
    stop, size = 1.0, 2 * n
    def residual(t, y, yp, res):
        x, v = y[0::2], y[1::2]
        res[0::2] = yp[0::2] - v
        force = -2 * x
        force[1:] += x[:-1]
        force[:-1] += x[1:]
        res[1::2] = yp[1::2] - force
    start = np.zeros(size)
    start[0] = 1
    options.update(linsolver="band", lband=3, uband=1)
elif family == "Cascade":
    stop, size = 1.0, n
    def residual(t, y, yp, res):
        res[1:] = 0.1 * yp[1:] - y[:-1] + y[1:]
        res[0] = 0.1 * yp[0] - np.sin(t) + y[0]
    start = np.zeros(n)
    options.update(linsolver="band", lband=1, uband=0)
elif family == "Heat2D":
    from scipy.sparse import diags, identity, kron
    stop, size, k = 0.1, n * n, float(n) ** 2
    def residual(t, y, yp, res):
        T = y.reshape(n, n)
        f = -4 * T
        f[1:] += T[:-1]
        f[:-1] += T[1:]
        f[:, 1:] += T[:, :-1]
        f[:, :-1] += T[:, 1:]
        f[0] -= T[0]
        f[-1] -= T[-1]
        f[:, 0] -= T[:, 0]
        f[:, -1] -= T[:, -1]
        res[:] = yp - (k * f + 1).reshape(-1)
    start = np.zeros(size)
    line = diags([1, 1, 1], [-1, 0, 1], shape=(n, n))
    options.update(linsolver="sparse", sparsity=(kron(line, identity(n)) + kron(identity(n), line)).tocsc())
else:
    sys.exit("there are no equations for " + family)
slope = np.zeros(size)
residual(0.0, start, np.zeros(size), slope)
slope = -slope if family != "Cascade" else -10 * slope
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
solver = sun.ida.IDA(residual, **options)
solution = solver.solve(np.linspace(0, stop, 11), start, slope)
after = resource.getrusage(resource.RUSAGE_SELF).ru_utime
if not solution.success:
    sys.exit(str(solution.message))
print("solved", after - before, solution.nfev, float(solution.y[-1][0]))
"""


def main():
    arguments = sys.argv[1:]
    print(f"{'model':14} {'N':>8}  {'acausal':>22}  {'IDA, with Python':>22} {'IDA alone':>11}  ratio")
    for family, sizes in zip(arguments[::2], arguments[1::2]):
        for n in sizes.split(","):
            ours, a, _ = acausal(family, n, LIMIT)
            theirs, _, out = measured([sys.executable, "-c", CHILD, family, n], LIMIT)
            solved = re.search(r"solved (\S+)", out)
            alone = float(solved[1]) if solved else None
            ratio = f"{alone / a:.2f}" if a and alone is not None else ""
            shown = f"{alone:.2f} s" if alone is not None else ""
            print(f"{family:14} {n:>8}  {ours:>22}  {theirs:>22} {shown:>11}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
