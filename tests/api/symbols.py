#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbols - a built library exports what its map (src/libsley.map) lists.

libsley.so: exactly that.  libsley.a: nothing that does not start with sley_.
The same for libsley-http, libsley-config and their maps.
And src/base/chaos.h has left nothing behind, unless the build is made for it;
neither has what a test may set (..._for_tests).
"""
import argparse
import re
import subprocess
import sys


def nm(tool, *args):
    done = subprocess.run([tool, "-P", *args], text=True, check=True,
                          stdout=subprocess.PIPE)
    for line in done.stdout.splitlines():
        fields = line.split()
        if len(fields) >= 2:
            yield fields[0], fields[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chaos", type=int, choices=(0, 1), default=0)
    for name in ("nm", "map", "shared", "static"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()

    with open(args.map, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    nodes = set(re.findall(r"^(\w[\w.]*) \{", text, re.M))
    listed = set(re.findall(r"\b(sley_\w+);", text))
    exported = set()
    for name, kind in nm(args.nm, "-D", "--defined-only", args.shared):
        bare, _, version = name.partition("@")
        if kind == "A" and bare in nodes:
            continue
        if version.lstrip("@") not in nodes:
            print(f"{args.shared}: {name} belongs to no node of the map")
            return 1
        exported.add(bare)
    failed = False
    for name in sorted(listed - exported):
        failed = True
        print(f"{args.shared}: {name} is missing")
    for name in sorted(exported - listed):
        failed = True
        print(f"{args.shared}: {name} should not be exported")
    static = {name for name, kind in nm(args.nm, "-g", "--defined-only",
                                        args.static) if kind != "U"}
    for name in sorted(static):
        if not re.match(r"sley_[a-z]", name):
            failed = True
            print(f"{args.static}: {name} may collide with a user's name")
    for name in sorted(listed - static):
        failed = True
        print(f"{args.static}: {name} is missing")
    chaos = {name for name, kind in nm(args.nm, args.static)
             if "chaos" in name or name.endswith("_for_tests")}
    if bool(chaos) != bool(args.chaos):
        failed = True
        print(f"{args.static}: {len(chaos)} names of chaos: {sorted(chaos)}")
    print(f"{len(exported)} exported, {len(static)} global in the archive")
    return failed


if __name__ == "__main__":
    sys.exit(main())
