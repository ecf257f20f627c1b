#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb - a debugger in a task: the backtrace ends where the fiber does.

And the command of docs/HACKING.md for tasks that wait, taken from there.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "harness"))
from prove import prove  # noqa: E402 (its path is known only now)

SKIPPED = 77
failures = 0


def check(name, condition, detail=""):
    global failures
    print("ok  " if condition else "FAIL", name)
    if not condition:
        failures += 1
        print(detail)


def macro(page):
    """The definition of "fiber", as it stands in the page."""
    with open(page, encoding="utf-8") as file:
        found = re.search(r"^    define fiber\n(.*?\n)    end$", file.read(),
                          re.M | re.S)
    return re.sub("^    ", "", found.group(0), flags=re.M) + "\n"


def run(program, script):
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(script)
        file.flush()
        return subprocess.run(["gdb", "-nx", "-batch", "-x", file.name,
                               program], check=False, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout


def frames(text):
    return re.findall(r"^#\d+ .*", text, re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "page"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    text = run(args.program, "set debuginfod enabled off\n"
               "set style enabled off\n" + macro(args.page)
               + "break stop_here\nrun\nbacktrace\necho ====\\n\n"
               "fiber waiting->fiber\necho ====\\n\n"
               "continue\n")
    if "hit Breakpoint" not in text:
        print("gdb may not trace here:\n" + text)
        return SKIPPED
    running, waiting, rest = text.split("====\n")
    check("the backtrace of a task ends at the first frame of its fiber",
          "ctx_start" in frames(running)[-1] and len(frames(running)) < 12,
          running)
    check("the task that waits shows where",
          sum(" inner (" in frame for frame in frames(waiting)) == 6
          and "ctx_start" in frames(waiting)[-1], waiting)
    check("gdb complains of neither", not re.search(
        r"corrupt|[Bb]acktrace stopped|Cannot access", text), text)
    check("the program goes on as if nothing was",
          "done" in rest and "exited normally" in rest, rest)
    print(f"{failures} failed")
    prove("hazard", name="unwinding_gdb_ends_at_the_first_frame",
          verdict="failed" if failures else "passed")
    return failures != 0


sys.exit(main())
