#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_clang - clang accepts what the sanitizer builds leave out.

  tools/check_clang.py build-clang --but build-asan [-j 2]

The sanitizer builds are made by clang, with warnings as errors, but have no
programs, benches, examples, models and header checks.  This reads the compile
commands of a build by clang that is configured and not built.  It runs each
command that the other build has not, with -fsyntax-only: clang says all its
warnings, and makes no code, which would be most of the work.
"""
import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def commands(build):
    """The compile commands of a build, by the names of their outputs."""
    path = os.path.join(build, "compile_commands.json")
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        at = words.index("-o")
        found[words[at + 1]] = entry | {
            "words": words[:at] + words[at + 2:] + ["-fsyntax-only"]}
    return found


def check(entry):
    """What the compiler has to say against a file; nothing is good."""
    done = subprocess.run(entry["words"], check=False,
                          cwd=entry["directory"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return ""
    return f"{entry['file']}: clang fails:\n{done.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--but", metavar="BUILD", required=True)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    args = parser.parse_args()
    done = commands(args.but)
    left = [entry for output, entry in commands(args.build).items()
            if output not in done and not entry["file"].endswith(".S")]
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        complaints = list(filter(None, pool.map(check, left)))
    for complaint in complaints:
        print(complaint)
    print(f"check_clang: {len(left)} files, {len(complaints)} complaints")
    # No file at all is a mistake of the caller, not a success.
    return 1 if complaints or not left else 0


if __name__ == "__main__":
    sys.exit(main())
