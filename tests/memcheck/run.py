#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run - a test program under valgrind's memcheck: no error, no suppression.

The program forks a process for each test, and each writes a log of its own.  An
error in any of them counts; so does memory that is lost for certain or
possibly, and a test that fails.  A process that dies of a signal is left out:
tests of misuse and of overflows do so on purpose, in the middle of everything,
and whether they were to is the test's business.

Everything is slow there, so tests take themselves for emulated.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "harness"))
from prove import prove  # noqa: E402 (its path is known only now)

SKIPPED = 77
OPTIONS = ["--error-exitcode=99", "--leak-check=full",
           "--errors-for-leak-kinds=definite,possible",
           "--fair-sched=try",  # who spins must let others run
           "--num-callers=20"]


def errors_of(path):
    """How many errors a process has made, and its log."""
    with open(path, encoding="utf-8", errors="replace") as file:
        log = file.read()
    if "Process terminating with default action of signal" in log:
        return 0, log
    counts = [int(text.replace(",", "")) for text in
              re.findall(r"ERROR SUMMARY: ([\d,]+) errors", log)]
    # One that was killed from outside has no summary, and a failed test.
    return sum(counts), log


def run(command, folder):
    environment = os.environ | {"TEST_EMULATED": "1"}
    logs = os.path.join(folder, "%p.log")
    done = subprocess.run(["valgrind", *OPTIONS, "--log-file=" + logs,
                           *command], check=False, env=environment)
    errors = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.log"))):
        nr, log = errors_of(path)
        errors += nr
        if nr:
            print(log)
    processes = len(glob.glob(os.path.join(folder, "*.log")))
    return done.returncode, errors, processes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("filter", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        status, errors, processes = run([args.program, *args.filter], folder)
    print(f"memcheck: {processes} processes, {errors} errors")
    if status == SKIPPED:
        return SKIPPED
    prove("memcheck", program="/".join(args.program.split("/")[-2:]),
          processes=processes, errors=errors,
          verdict="failed" if status or errors else "passed")
    return status or errors != 0


sys.exit(main())
