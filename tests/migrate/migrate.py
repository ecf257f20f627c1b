#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""migrate - migrate.c under each compiler, level, -fPIC and -flto.

  migrate.py --short LIBRARY    some cells, against a library that is there
  migrate.py --migrations N     all cells, each with a library compiled the same

A cell fails if its program does; without -flto also if stale.py finds something
in it, or if anything of src/base/chaos.h is left in a library without it.  What is not there, a compiler or its linker
for -flto, is skipped and said so.
"""
import argparse
import concurrent.futures
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import stale

LEVELS = ("-O0", "-O1", "-O2", "-O3")
LIBRARY = ["-std=gnu11", "-D_GNU_SOURCE", "-DNDEBUG", "-fvisibility=hidden",
           "-fno-semantic-interposition", "-fno-strict-aliasing",
           "-ftls-model=initial-exec", "-fPIC"]
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **more):
    return subprocess.run(command, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more)


def must(command):
    done = run(command)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


class Matrix:
    def __init__(self, source, work, jobs):
        self.source, self.work, self.jobs = source, work, jobs
        self.libraries = {}
        self.linked = {}  # compiler: the sources that the program is made of
        with open(os.path.join(source, "src", "CMakeLists.txt"),
                  encoding="utf-8") as file:
            listed = re.search(r"set\(SLEY_SOURCES(.*?)\)", file.read(), re.S)
        self.sources = listed.group(1).split()

    def library(self, compiler, flags):
        """The objects of the library, compiled so; once each.  With -flto only those
        that end up in the program: the others are not run, and not looked into."""
        key = (compiler, *flags)
        if key not in self.libraries:
            sources = self.sources
            if "-flto" in flags:
                sources = self.linked_sources(compiler)
            self.libraries[key] = self.compiled(compiler, flags, sources)
        return self.libraries[key]

    def linked_sources(self, compiler):
        """What the linker takes from an archive without optimisation, which leaves
        no reference out."""
        if compiler not in self.linked:
            objects = self.library(compiler, ["-O0"])
            archive = os.path.join(self.work, f"{compiler}.a")
            must(["ar", "rcs", archive, *objects])
            listing = os.path.join(self.work, "map")
            must([compiler, "-O0", "-pthread", f"-Wl,-Map={listing}",
                  f"-I{self.source}/include",
                  os.path.join(HERE, "migrate.c"), archive,
                  "-o", os.path.join(self.work, "mapped")])
            with open(listing, encoding="utf-8") as file:
                members = set(re.findall(r"\.a\(([^)]+)\)", file.read()))
            self.linked[compiler] = [
                name for name, out in zip(self.sources, objects)
                if os.path.basename(out) in members]
        return self.linked[compiler]

    def compiled(self, compiler, flags, sources):
        folder = os.path.join(self.work, f"library{len(self.libraries)}")
        os.mkdir(folder)

        def compile_one(name):
            out = os.path.join(folder, name.replace("/", "_") + ".o")
            must([compiler, *LIBRARY, *flags, "-pthread", "-w",
                  f"-I{self.source}/src", f"-I{self.source}/include", "-c",
                  f"{self.source}/src/{name}", "-o", out])
            return out

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(compile_one, sources))

    def program(self, compiler, flags, library):
        out = os.path.join(self.work, "migrate")
        pie = [] if "-fPIC" in flags else ["-no-pie"]
        linker = ["-fuse-ld=lld"] if needs_lld(compiler, flags) else []
        warnings = (["-w"] if "-flto" in flags else
                    ["-Wall", "-Wextra", "-Werror"])
        must([compiler, "-std=gnu11", "-g", *flags, *pie, *linker, "-pthread",
              *warnings, f"-I{self.source}/include",
              os.path.join(HERE, "migrate.c"), *library, "-o", out])
        return out


def needs_lld(compiler, flags):
    return "-flto" in flags and "clang" in os.path.basename(compiler)


def reason_to_skip(compiler, flags):
    if not shutil.which(compiler):
        return f"no {compiler}"
    if needs_lld(compiler, flags) and not shutil.which("ld.lld"):
        return "no ld.lld, which clang needs for -flto"
    return None


def version_of(compiler):
    line = must([compiler, "--version"]).splitlines()[0]
    return " ".join(re.findall(r"gcc|clang|\d+\.\d+\.\d+", line)[:2])


def prove(compiler, flags, nr):
    path = os.environ.get("SLEY_PROOF")
    if not path:
        return
    line = json.dumps({"kind": "migration", "compiler": version_of(compiler),
                       "flags": " ".join(flags), "migrations": nr})
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def look_into(program):
    """What the program should not have in it, line by line."""
    found = [f"{name}: {text}: {what}"
             for name, _, text, what in stale.check(program)[0]
             ] if platform.machine() == "x86_64" else []
    return found + re.findall(r"\S*chaos\S*", must(["nm", program]))


def run_cell(matrix, compiler, flags, library, migrations):
    """True: it held."""
    name = f"{compiler} {' '.join(flags)}"
    reason = reason_to_skip(compiler, flags)
    if reason:
        print(f"skip {name}: {reason}", flush=True)
        return True
    own_library = library is None
    if own_library:
        own = [flag for flag in flags if flag.startswith("-O")
               or flag == "-flto"]
        library = matrix.library(compiler, own)
    program = matrix.program(compiler, flags, library)
    complaints = (look_into(program) if own_library and "-flto" not in flags
                  else [])
    done = run([program, str(migrations)], timeout=300)
    found = re.match(r"(\d+) migrations", done.stdout)
    held = (done.returncode == 0 and found and int(found[1]) >= migrations
            and not complaints)
    print("ok  " if held else f"FAIL {done.returncode}", name,
          done.stdout.strip(), *complaints, flush=True)
    if held:
        prove(compiler, flags, int(found[1]))
    return held


def cells(short):
    if short:
        yield "gcc", ["-O0", "-fno-pic"], short
        yield "gcc", ["-O3", "-fPIC"], short
        yield "clang", ["-O1", "-fPIC"], short
        yield "clang", ["-O3", "-fno-pic"], short
        return
    for compiler in ("gcc", "clang"):
        for level in LEVELS:
            for lto in ([], ["-flto"]):
                for pic in ("-fno-pic", "-fPIC"):
                    yield compiler, [level, pic, *lto], None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default=os.path.join(HERE, "..", ".."))
    parser.add_argument("--short", metavar="LIBRARY")
    parser.add_argument("--migrations", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    failed = nr = 0
    with tempfile.TemporaryDirectory() as work:
        matrix = Matrix(args.source, work, args.jobs)
        for compiler, flags, library in cells(args.short):
            held = run_cell(matrix, compiler, flags,
                            library and [library], args.migrations)
            nr += 1
            failed += not held
    print(f"{nr} cells, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
