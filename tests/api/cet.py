#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cet - what the library says about control-flow protection.

The switch knows indirect branch tracking: its targets are landing pads.  It
does not know shadow stacks: so no form of the library may carry the mark that
lets the loader turn them on.  Built with -fcf-protection=full, where every other
object has both marks, the one of the assembly must leave IBT alone.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "harness"))
from prove import prove  # noqa: E402 (its path is known only now)

failures = 0


def check(name, condition, detail=""):
    global failures
    print("ok  " if condition else "FAIL", name)
    if not condition:
        failures += 1
        print(detail)


def output(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def features(readelf, path):
    """The marks of an object or a library, as a set."""
    text = output(readelf, "-nW", path)
    found = re.findall(r"x86 feature: (.*)", text)
    return set(", ".join(found).split(", ")) - {""}


def build(args, folder):
    """The fibers, with all protection that the compiler has."""
    objects = []
    for source in ("arch/x86_64/ctx.S", "fiber/fiber.c"):
        path = os.path.join(folder, os.path.basename(source) + ".o")
        subprocess.run([args.cc, "-O2", "-fPIC", "-fcf-protection=full",
                        "-D_GNU_SOURCE", "-std=gnu11",
                        "-I", os.path.join(args.source, "src"),
                        "-I", os.path.join(args.source, "include"),
                        "-c", os.path.join(args.source, "src", source),
                        "-o", path], check=True)
        objects.append(path)
    return objects


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cc", "source", "shared", "readelf", "objdump"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    check("the shared library does not ask for shadow stacks",
          "SHSTK" not in features(args.readelf, args.shared))
    with tempfile.TemporaryDirectory() as folder:
        assembly, fibers = build(args, folder)
        check("the assembly is marked for branch tracking alone",
              features(args.readelf, assembly) == {"IBT"},
              features(args.readelf, assembly))
        check("the compiler would have marked both",
              features(args.readelf, fibers) == {"IBT", "SHSTK"},
              features(args.readelf, fibers))
        library = os.path.join(folder, "lib.so")
        subprocess.run([args.cc, "-shared", "-nostdlib", assembly, fibers,
                        "-o", library], check=True)
        check("linked together, branch tracking is left",
              features(args.readelf, library) == {"IBT"},
              features(args.readelf, library))
        code = output(args.objdump, "-d", "--no-show-raw-insn", assembly)
        check("the first frame begins with a landing pad",
              re.search(r"<sley__ctx_start>:\n\s+0:\s+endbr64", code), code)
    print(f"{failures} failed")
    prove("hazard", name="cet_marks_branch_tracking_alone",
          verdict="failed" if failures else "passed")
    return failures != 0


sys.exit(main())
