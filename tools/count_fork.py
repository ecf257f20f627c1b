#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count_fork - how many instructions a fork and its join cost.

  tools/count_fork.py [build/bench/programs/sley-count]

Counts under valgrind's callgrind, with one worker.  `fib` is computed at two
sizes; what the larger takes more, per call that forks, is what one fork, one
call and one join cost: starting and stopping the runtime cancels out.
`nqueens` is compared with the same search without forks.  Instructions do not
depend on what else the machine does: a bar that is missed is a defect, and the
exit status says so.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "build", "bench", "programs", "sley-count")
FIB_SMALL, FIB_LARGE = 16, 21
FIB_BARS = {"serial": None, "inline": 45, "plain": 65}   # per fork
QUEENS_SMALL, QUEENS_LARGE = 6, 13
QUEENS_BARS = {"inline": 1.05, "plain": None}            # of serial


class Failed(Exception):
    """The program or valgrind did not do what it was asked to."""


def instructions(program, problem, form, size):
    """What one run of the program takes from start to end, and its answer."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "callgrind.out")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
             program, problem, form, str(size)],
            capture_output=True, text=True, check=False)
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not found:
        raise Failed(f"{problem} {form} {size}: {run.stderr.strip()}")
    return int(found.group(1)), int(run.stdout)


def difference(program, problem, form, sizes):
    """Instructions that the larger size takes more; the two answers."""
    small, first = instructions(program, problem, form, sizes[0])
    large, second = instructions(program, problem, form, sizes[1])
    return large - small, (first, second)


def fibonacci(nth):
    a, b = 0, 1
    for _ in range(nth):
        a, b = b, a + b
    return a


def has_form(program, form):
    """An older library has no inline form."""
    return subprocess.run([program, "fib", form, "1"], capture_output=True,
                          check=False).returncode == 0


class Table:
    """Prints line by line; remembers whether all bars held."""

    def __init__(self):
        self.held = True
        print(f"{'what':<28} {'count':>8}  {'bar':<8}")

    def line(self, what, value, bar, digits):
        shown, verdict = "", ""
        if bar is not None:
            shown = f"<= {bar}"
            verdict = "ok" if value <= bar else "missed"
            self.held &= value <= bar
        print(f"{what:<28} {value:>8.{digits}f}  {shown:<8} {verdict}".rstrip(),
              flush=True)


def count_fib(program, forms, table):
    sizes = (FIB_SMALL, FIB_LARGE)
    right = tuple(fibonacci(n) for n in sizes)
    forks = fibonacci(sizes[1] + 1) - fibonacci(sizes[0] + 1)
    for form in forms:
        more, answers = difference(program, "fib", form, sizes)
        if answers != right:
            raise Failed(f"fib {form}: {answers} in place of {right}")
        table.line(f"fib, {form}, each fork", more / forks, FIB_BARS[form], 1)


def count_queens(program, forms, table, large):
    sizes = (QUEENS_SMALL, large)
    serial, right = difference(program, "nqueens", "serial", sizes)
    for form in forms:
        if form == "serial":
            continue
        more, answers = difference(program, "nqueens", form, sizes)
        if answers != right:
            raise Failed(f"nqueens {form}: {answers} in place of {right}")
        table.line(f"nqueens {large}, {form} / serial", more / serial,
                   QUEENS_BARS[form], 3)


def main():
    parser = argparse.ArgumentParser(
        description="Counts the instructions of a fork and its join.")
    parser.add_argument("program", nargs="?", default=PROGRAM)
    parser.add_argument("--queens", type=int, default=QUEENS_LARGE,
                        help="size of the board, 0: none (default: %(default)s,"
                        " about two minutes)")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("count_fork: valgrind is not installed")
    if not os.access(arguments.program, os.X_OK):
        sys.exit(f"count_fork: {arguments.program} is not built")
    forms = [form for form in FIB_BARS if has_form(arguments.program, form)]
    table = Table()
    try:
        count_fib(arguments.program, forms, table)
        if arguments.queens:
            count_queens(arguments.program, forms, table, arguments.queens)
    except Failed as error:
        sys.exit(f"count_fork: {error}")
    return 0 if table.held else 1


if __name__ == "__main__":
    sys.exit(main())
