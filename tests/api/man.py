#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man - the manual is complete, well-formed, and refers to pages that exist.

Every function of src/libsley.map and of the maps beside it, and every one that is
inline in a header, has a page or a name of one.  mandoc finds nothing to warn of.  The names in
NAME are those by which the page can be found.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

failures = 0


def complain(text):
    global failures
    failures += 1
    print(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documented(source):
    """The names of the functions that users can call."""
    names = set()
    for path in glob.glob(os.path.join(source, "src/*.map")):
        names |= set(re.findall(r"\b(sley_\w+);", read(path)))
    for path in glob.glob(os.path.join(source, "include/sley/*.h")):
        names |= set(re.findall(r"^ \* (sley_\w+) - (?!private:)", read(path),
                                re.M))
        # Variables: for inline functions, and the tables of modules.
        names -= set(re.findall(r"^SLEY_EXPORT extern .*?(\w+);?$", read(path),
                                re.M))
    return {name for name in names if not name.endswith("_slow")}


def check_names(page, path, names):
    """NAME lists what the page is called, and nothing else."""
    title = page.split(".Sh NAME\n")[1].split(".Nd")[0]
    listed = set(re.findall(r"^\.Nm (\S+)", title, re.M))
    wanted = {os.path.splitext(os.path.basename(n))[0] for n in names}
    for name in listed - wanted:
        if not name.endswith(".h"):
            complain(f"{path}: {name} in NAME cannot be found")
    for name in wanted - listed:
        if not name.endswith(".h"):
            complain(f"{path}: NAME does not have {name}")
    if not re.search(r"^\.Nd \S.*[^.]$", page, re.M):
        complain(f"{path}: the line .Nd is empty, or ends in a full stop")


def check_references(page, path, existing):
    for name, section in re.findall(r"\bXr (\S+) (\d)", page):
        if name.startswith("sley") and f"{name}.{section}" not in existing:
            complain(f"{path}: {name}({section}) does not exist")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    parser.add_argument("--man", required=True)
    args = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(args.man, "man[0-9]/*")))
    existing = {os.path.basename(path) for path in paths}
    for name in sorted(documented(args.source)):
        if f"{name}.3" not in existing:
            complain(f"{name} has no page")
    real = {}
    for path in paths:
        real.setdefault(os.path.realpath(path), []).append(path)
    for path, names in real.items():
        page = read(path)
        check_references(page, path, existing)
        if path.endswith(".3"):
            check_names(page, path, names)
    lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *real],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if lint.returncode or lint.stdout:
        complain(lint.stdout)
    print(f"{len(real)} pages, {len(paths)} names, {failures} complaints")
    return 1 if failures or not real else 0


if __name__ == "__main__":
    sys.exit(main())
