#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_clang - clang accepts what the sanitizer builds leave out.

  tools/check_clang.py build-clang --but build-asan [-j 2]

The sanitizer builds are made by clang, with warnings as errors, but have no
programs, benches, examples, models and header checks.  This reads the compile
commands of a build by clang that is configured and not built.  It runs each
command that the other build has not, with -fsyntax-only: clang says all its
warnings, and makes no code, which would be most of the work.

Most of the rest would be to start clang, so files with the same options are read
by one process.  The driver starts one for each file; so the command is the one
that the driver would start ("clang -###"), which takes any number of files.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys


# A pragma that silences a warning is remembered by its position in what is read,
# and the files of a process have the same positions.
PRAGMA = re.compile(r"#\s*pragma\s+(GCC|clang)|_Pragma")
FILES_MAX = 16


def commands(build):
    """The compile commands of a build, by the names of their outputs."""
    path = os.path.join(build, "compile_commands.json")
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        at = words.index("-o")
        output = words[at + 1]
        del words[at:at + 2]
        words.remove(entry["file"])
        words.remove("-c")
        found[output] = entry | {"words": words + ["-fsyntax-only"]}
    return found


def has_pragma(entry):
    path = os.path.join(entry["directory"], entry["file"])
    with open(path, encoding="utf-8") as file:
        return PRAGMA.search(file.read()) is not None


def batches(entries):
    """Lists of entries with the same options, short enough to run side by side."""
    alike = {}
    for entry in entries:
        alone = entry["file"] if has_pragma(entry) else ""
        kind = (entry["directory"], tuple(entry["words"]), alone,
                os.path.splitext(entry["file"])[1])
        # Two targets may compile a file the same way.
        alike.setdefault(kind, {})[entry["file"]] = entry
    return [list(some.values())[i:i + FILES_MAX] for some in alike.values()
            for i in range(0, len(some), FILES_MAX)]


def compiler_proper(words, directory, file):
    """What the driver would start for one file, without the file."""
    said = subprocess.run(words + ["-###", file], check=True, cwd=directory,
                          stderr=subprocess.PIPE, text=True).stderr
    for line in said.splitlines():
        if '"-cc1"' in line:
            started = shlex.split(line)
            assert started[-1] == file, line
            return started[:-1]
    raise SystemExit(f"check_clang: no -cc1 in what {words[0]} -### says")


def check(batch):
    """What the compiler has to say against each of some files."""
    words, directory = batch[0]["words"], batch[0]["directory"]
    files = [entry["file"] for entry in batch]
    words = compiler_proper(words, directory, files[0]) + files
    done = subprocess.run(words, check=False, cwd=directory,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode == 0:
        return []
    if len(batch) > 1:
        # After the first error clang keeps most warnings to itself.
        alone = sum((check([entry]) for entry in batch), [])
        if alone:
            return alone
    return [f"{', '.join(files)}: clang fails:\n{done.stdout}"]


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
        complaints = sum(pool.map(check, batches(left)), [])
    for complaint in complaints:
        print(complaint)
    print(f"check_clang: {len(left)} files, {len(complaints)} complaints")
    # No file at all is a mistake of the caller, not a success.
    return 1 if complaints or not left else 0


if __name__ == "__main__":
    sys.exit(main())
