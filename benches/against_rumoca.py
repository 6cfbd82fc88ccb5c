"""The models of benches/models in acausal and in rumoca (PyPI), side by side in one run.

    python3 -m venv venv && venv/bin/pip install rumoca
    cargo build --release -p acausal-bench
    venv/bin/python benches/against_rumoca.py HeatEquations 100,1000,10000 RCLadder 100,1000

Every case runs in a process of its own, with a limit of time. Printed are seconds of CPU time from the text to the end of
the simulation (both stop at the same time, with relative tolerance 1e-6), the peak of memory, and the ratio of the
times. A tool that fails is printed with its message.
"""

import os
import pathlib
import re
import sys

from measured import ROOT, acausal, measured

LIMIT = int(os.environ.get("LIMIT", "120"))

CHILD = """
import sys, rumoca, resource
text, stop = open(sys.argv[1]).read(), float(sys.argv[2])
model = rumoca.Session().loads(text)
ready = resource.getrusage(resource.RUSAGE_SELF).ru_utime
model.simulate(stop, config=rumoca.SimConfig(rtol=1e-6, dt=stop/10))
print("ready", ready)
"""


def main():
    arguments = sys.argv[1:]
    print(f"{'model':16} {'N':>8}  {'acausal':>21}  {'rumoca':>21}  ratio")
    for family, sizes in zip(arguments[::2], arguments[1::2]):
        source = (ROOT / "benches" / "models" / f"{family}.mo").read_text()
        stop = re.search(r"StopTime = ([0-9.e-]+)", source)[1]
        for n in sizes.split(","):
            ours, a, _ = acausal(family, n, LIMIT)
            text = re.sub(r"parameter Integer N = \d+", f"parameter Integer N = {n}", source)
            file = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"{family}_{os.getpid()}.mo"
            file.write_text(text)
            theirs, b, _ = measured([sys.executable, "-c", CHILD, str(file), stop], LIMIT)
            file.unlink()
            ratio = f"{b / a:.1f}" if a and b else ""
            print(f"{family:16} {n:>8}  {ours:>21}  {theirs:>21}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
