"""CPU time, peak of memory and output of a process of its own, for the comparisons with other tools."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

WRAPPER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print('usage', u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)
sys.exit(code)
"""


def measured(command, limit):
    """What to show, seconds (None if the command fails or takes longer than the limit) and output.

    A wrapper runs the command as its only child: the child's usage is that of the command.
    """
    with subprocess.Popen(
        [sys.executable, "-c", WRAPPER, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"more than {limit} s", None, ""
    usage = re.search(r"usage (\S+) (\S+)", out)
    if process.returncode != 0 or usage is None:
        lines = [l for l in out.splitlines() if l.strip() and not l.startswith("usage")]
        errors = [l for l in lines if "rror" in l] or lines
        return (errors[-1] if errors else f"exit code {process.returncode}")[:90], None, out
    return f"{float(usage[1]):8.2f} s {float(usage[2]):7.0f} MB", float(usage[1]), out


def acausal(family, n, limit):
    """The same for one case of acausal."""
    return measured([str(TARGET / "release" / "acausal-bench"), "scale-case", family, n], limit)
