#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""install - a staged installation is enough to build and run a program.

Installs into a temporary tree, then builds the same program four times: with
pkg-config and with find_package(), shared and static.
"""
import argparse
import os
import subprocess
import sys
import tempfile

CMAKE_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(sley {version} REQUIRED)
add_executable(shared {program})
target_link_libraries(shared PRIVATE sley::sley)
add_executable(static {program})
target_link_libraries(static PRIVATE sley::static)
"""


def run(*command, **environment):
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, text=True, check=False,
                          env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout)
        print(f"install: exit status {done.returncode}")
        sys.exit(1)
    return done.stdout.strip()


def find(tree, name):
    for folder, _, names in os.walk(tree):
        if name in names:
            return folder
    print(f"install: {name} was not installed")
    return sys.exit(1)


def check(program, libdir, expected):
    output = run(program, LD_LIBRARY_PATH=libdir)
    if output != expected:
        print(f"install: printed '{output}', expected '{expected}'")
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cmake", "cc", "build", "program", "version"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    expected = f"{args.version} 1 7"

    with tempfile.TemporaryDirectory() as tree:
        stage = os.path.join(tree, "stage")
        run(args.cmake, "--install", args.build, "--prefix", "/opt/sley",
            DESTDIR=stage)
        prefix = os.path.join(stage, "opt/sley")
        libdir = find(prefix, "libsley.so")
        packages = find(prefix, "sley.pc")

        version = run("pkg-config", "--modversion", "sley",
                      PKG_CONFIG_PATH=packages)
        if version != args.version:
            print(f"install: sley.pc says {version}, not {args.version}")
            return 1
        flags = run("pkg-config", "--cflags", "--libs", "sley",
                    PKG_CONFIG_PATH=packages).split()
        shared = os.path.join(tree, "shared")
        run(args.cc, "-o", shared, args.program, *flags)
        check(shared, libdir, expected)
        flags = run("pkg-config", "--cflags", "--libs", "--static", "sley",
                    PKG_CONFIG_PATH=packages).split()
        static = os.path.join(tree, "static")
        run(args.cc, "-static", "-o", static, args.program, *flags)
        check(static, "", expected)

        project = os.path.join(tree, "project")
        os.mkdir(project)
        with open(os.path.join(project, "CMakeLists.txt"), "w",
                  encoding="utf-8") as file:
            file.write(CMAKE_PROJECT.format(version=args.version,
                                            program=args.program))
        build = os.path.join(tree, "build")
        run(args.cmake, "-S", project, "-B", build,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={args.cc}")
        run(args.cmake, "--build", build)
        check(os.path.join(build, "shared"), libdir, expected)
        check(os.path.join(build, "static"), "", expected)
    print("install: four programs built and run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
