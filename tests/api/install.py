#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""install - a staged installation is enough, and can be taken back.

Installs into a temporary tree.  From it, and from nothing else, a program in C,
one in C++, one that uses libsley-http and one that uses libsley-config (if it was built)
are built with pkg-config and with find_package(), each shared and static, and run.  What they import carries the
version of the interface.
The examples that have a header compile as they are installed, the links of the guides
lead to what is installed, and "make" builds all that is.
Then everything is uninstalled, and nothing may be left; what was installed with
another PREFIX or DESTDIR stays, as do files of others.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import mdsource

CMAKE_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(outside C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(sley {version} REQUIRED)
foreach(language c cpp)
	add_executable(shared-${{language}} {stem}.${{language}})
	target_link_libraries(shared-${{language}} PRIVATE sley::sley)
	add_executable(static-${{language}} {stem}.${{language}})
	target_link_libraries(static-${{language}} PRIVATE sley::static)
endforeach()
add_executable(shared-http {http})
target_link_libraries(shared-http PRIVATE sley::http)
add_executable(static-http {http})
target_link_libraries(static-http PRIVATE sley::http-static)
add_executable(alloca-shared {alloca})
target_link_libraries(alloca-shared PRIVATE sley::sley)
add_executable(alloca-static {alloca})
target_link_libraries(alloca-static PRIVATE sley::static)
"""

CMAKE_CONFIG = """\
add_executable(shared-config {config})
target_link_libraries(shared-config PRIVATE sley::config)
add_executable(static-config {config})
target_link_libraries(static-config PRIVATE sley::config-static)
"""

# Frames that are larger than a stack and its guard, in KiB.
FRAMES = (300, 500, 800)

PREFIX = "/opt/sley"


def fail(text):
    print(f"install: {text}")
    sys.exit(1)


def run(*command, **environment):
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, text=True, check=False,
                          env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout)
        fail(f"exit status {done.returncode}")
    return done.stdout.strip()


def find(tree, name):
    for folder, _, names in os.walk(tree):
        if name in names:
            return folder
    return fail(f"{name} was not installed")


def files_in(tree):
    """All files and links below."""
    return {os.path.join(folder, name)
            for folder, _, names in os.walk(tree) for name in names}


def check_imports(program, shared, node):
    """A shared program imports versioned names; a static one imports none."""
    table = run("readelf", "--dyn-syms", "-W", program)
    names = re.findall(r" UND (sley_\S+)", table)
    if bool(names) != shared:
        fail(f"{program} imports {len(names)} names of ours")
    for name in names:
        wanted = node
        for part in ("http", "config_file"):
            if name.startswith(f"sley_{part}_"):
                wanted = node.replace(
                    "SLEY_", f"SLEY_{part.split('_')[0].upper()}_")
        if not name.endswith("@" + wanted):
            fail(f"{program} imports {name} without @{wanted}")


def check_overflow(program, libdir=""):
    """A frame that steps over the guard of its stack is noticed."""
    for size in FRAMES:
        done = subprocess.run((program, str(size)), text=True, check=False,
                              env=os.environ | {"LD_LIBRARY_PATH": libdir},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode >= 0 or "sley: stack overflow" not in done.stdout:
            fail(f"{program}: a frame of {size} KiB: exit status "
                 f"{done.returncode}, '{done.stdout.strip()}'")


class Installed:
    """The tree, and the programs that are built from it."""

    def __init__(self, args, tree):
        self.args, self.tree = args, tree
        self.stage = os.path.join(tree, "stage")
        self.prefix = self.stage + PREFIX
        self.install(PREFIX)
        self.libdir = find(self.prefix, "libsley.so")

    def install(self, prefix, stage=None):
        run(self.args.cmake, "--install", self.args.build, "--prefix", prefix,
            DESTDIR=self.stage if stage is None else stage)

    def uninstall(self, prefix, stage=None):
        """Its exit status and what it says."""
        done = subprocess.run(
            (os.path.join(self.args.source, "tools/uninstall"),
             self.args.build, prefix, self.stage if stage is None else stage),
            text=True, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        print(done.stdout, end="")
        return done.returncode, done.stdout

    def must_uninstall(self, prefix, stage=None):
        status, _ = self.uninstall(prefix, stage)
        if status:
            fail(f"uninstall of {prefix}: exit status {status}")

    def must_refuse(self, prefix, stage=None):
        before = files_in(self.tree)
        status, said = self.uninstall(prefix, stage)
        if status != 1 or "nothing was removed" not in said:
            fail(f"uninstall of {prefix} should refuse: status {status}")
        if files_in(self.tree) != before:
            fail(f"uninstall of {prefix} refused and removed files")

    def check_program(self, program, shared, libdir="", result=1):
        """It runs, and sees the library that was installed."""
        expected = f"{self.args.version} {result} 7"
        output = run(program, LD_LIBRARY_PATH=libdir)
        if output != expected:
            fail(f"printed '{output}', expected '{expected}'")
        check_imports(program, shared, self.args.node)

    def pkg_config(self, *words, package="sley"):
        return run("pkg-config", *words, package,
                   PKG_CONFIG_PATH=find(self.prefix, "sley.pc")).split()

    def build_with_pkg_config(self):
        version = self.pkg_config("--modversion")
        if version != [self.args.version]:
            fail(f"sley.pc says {version}, not {self.args.version}")
        for compiler, ending, standard in (
                (self.args.cc, ".c", "-std=c11"),
                (self.args.cxx, ".cpp", "-std=c++17")):
            command = [compiler, standard, "-Wall", "-Wextra", "-Wpedantic",
                       "-Werror", self.args.program + ending, "-o"]
            program = os.path.join(self.tree, "shared" + ending + ".out")
            run(*command, program, *self.pkg_config("--cflags", "--libs"))
            self.check_program(program, True, self.libdir)
            program = os.path.join(self.tree, "static" + ending + ".out")
            run(*command, program, "-static",
                *self.pkg_config("--cflags", "--libs", "--static"))
            self.check_program(program, False)
        self.build_examples()
        self.build_more_with_pkg_config("http", 200)
        if self.args.config:
            self.build_more_with_pkg_config("config", 3)
        program = os.path.join(self.tree, "alloca.out")
        run(self.args.cc, "-std=gnu11", "-O2", self.args.alloca, "-o",
            program, *self.pkg_config("--cflags", "--libs"))
        check_overflow(program, self.libdir)

    def build_examples(self):
        """Those with a header of their own."""
        folder = find(self.prefix, "01_hello.c")
        names = [name[:-1] + "c" for name in os.listdir(folder)
                 if name.endswith(".h")]
        if not names:
            fail("no example has a header")
        for name in names:
            run(self.args.cc, "-std=c11", "-Wall", "-Wextra", "-Werror",
                os.path.join(folder, name), "-o",
                os.path.join(self.tree, name + ".out"),
                *self.pkg_config("--cflags", "--libs"))

    def build_more_with_pkg_config(self, part, result):
        for shared, words in (True, ()), (False, ("--static",)):
            program = os.path.join(self.tree, f"{part}-{shared}.out")
            run(self.args.cc, "-std=c11", "-Wall", "-Wextra", "-Wpedantic",
                "-Werror", getattr(self.args, part), "-o", program,
                *(() if shared else ("-static",)),
                *self.pkg_config("--cflags", "--libs", *words,
                                 package="sley-" + part))
            self.check_program(program, shared,
                               self.libdir if shared else "", result)

    def build_with_cmake(self):
        project = os.path.join(self.tree, "project")
        build = os.path.join(self.tree, "build")
        os.mkdir(project)
        with open(os.path.join(project, "CMakeLists.txt"), "w",
                  encoding="utf-8") as file:
            file.write(CMAKE_PROJECT.format(version=self.args.version,
                                            stem=self.args.program,
                                            http=self.args.http,
                                            alloca=self.args.alloca))
            if self.args.config:
                file.write(CMAKE_CONFIG.format(config=self.args.config))
        run(self.args.cmake, "-S", project, "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={self.args.cc}",
            f"-DCMAKE_CXX_COMPILER={self.args.cxx}")
        run(self.args.cmake, "--build", build)
        for language in ("c", "cpp"):
            # CMake writes where the library is into what it builds.
            self.check_program(os.path.join(build, "shared-" + language),
                               True)
            self.check_program(os.path.join(build, "static-" + language),
                               False)
        for kind in ("shared", "static"):
            self.check_program(os.path.join(build, kind + "-http"),
                               kind == "shared", result=200)
            if self.args.config:
                self.check_program(os.path.join(build, kind + "-config"),
                                   kind == "shared", result=3)
        for name in ("alloca-shared", "alloca-static"):
            check_overflow(os.path.join(build, name))

    def check_library(self, stem, *needs):
        """@needs: besides the C library."""
        table = run("readelf", "-d", "-W",
                    os.path.join(self.libdir, stem + ".so"))
        major = self.args.version.split(".", maxsplit=1)[0]
        if f"Library soname: [{stem}.so.{major}]" not in table:
            fail(f"wrong SONAME:\n{table}")
        needed = set(re.findall(r"Shared library: \[([^]]*)\]", table))
        strange = {name for name in needed
                   if not re.match(r"(libc|libpthread|ld-linux[\w-]*)\.so",
                                   name)} - set(needs)
        if strange:
            fail(f"needs {strange}")
        if re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", table):
            fail(f"has a path or text relocations:\n{table}")

    def check_files(self):
        source = os.path.join(self.args.source, "include/sley")
        want = set(os.listdir(source))
        if not self.args.config:
            want.remove("config_file.h")
        have = set(os.listdir(os.path.join(self.prefix, "include/sley")))
        if want != have:
            fail(f"headers: {sorted(want ^ have)}")
        for name in ("sley.1", "sley.5", "sley.7", "sleyd.8", "sley_spawn.3",
                     "sley_config.3", "sley_event_wait_until.3",
                     "sley_http_respond.3"):
            folder = find(self.prefix, name)
            if not folder.endswith(f"share/man/man{name[-1]}"):
                fail(f"{name} is in {folder}")
        if shutil.which("man"):
            for section, name in (("1", "sley"), ("5", "sley"), ("7", "sley"),
                                  ("3", "sley_spawn"), ("3", "sley_config"),
                                  ("3", "sley_event_wait_until")):
                run("man", "-M", os.path.join(self.prefix, "share/man"),
                    "-w", section, name)
        run(os.path.join(self.prefix, "bin/sley"), "version")
        if self.args.config:
            run(os.path.join(self.prefix, "sbin/sleyd"), "--version")
            for name in ("sleyd.service", "sleyd.socket"):
                if not find(self.prefix, name).endswith("lib/systemd/system"):
                    fail(f"{name} is where systemd does not look")
        find(self.prefix, "01_hello.c")
        # As in the source: the links of the README lead somewhere.
        for name, place in (("LICENSE", ""), ("README.md", ""),
                            ("CHANGELOG.md", ""), ("SECURITY.md", ""),
                            ("TUTORIAL.md", "/docs"), ("DAEMON.md", "/docs"),
                            ("MODULES.md", "/docs"), ("sley.yaml", "/docs")):
            folder = find(self.prefix, name)
            if not folder.endswith("share/doc/sley" + place):
                fail(f"{name} is in {folder}")
        for path in glob.glob(self.prefix + "/**/*.cmake", recursive=True) \
                + glob.glob(self.prefix + "/**/*.pc", recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for place in (self.args.source, self.args.build, self.tree):
                if place in text:
                    fail(f"{path} speaks of {place}")

    def check_links(self):
        """Of the guides: to what is installed, or to the web."""
        for path in glob.glob(self.prefix + "/share/doc/**/*.md",
                              recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for line, target in mdsource.links(text):
                name = target.partition("#")[0]
                full = os.path.normpath(
                    os.path.join(os.path.dirname(path), name))
                if not re.match(r"[a-z]+:", target) \
                        and not os.path.exists(full):
                    fail(f"{path}:{line}: {target} leads nowhere")

    def check_product(self):
        """What "make" builds is what an install needs, and no benchmarks."""
        if not os.path.exists(os.path.join(self.args.build, "build.ninja")):
            return
        done = run("ninja", "-C", self.args.build, "-t", "commands",
                   "product")
        built = re.findall(r"(?: -o|\bqc) (\S+)", done)
        for folder in ("bench/", "examples/"):
            if any(name.startswith(folder) for name in built):
                fail(f"product builds {folder}")
        for folder in [self.libdir] + glob.glob(self.prefix + "/*bin"):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path) \
                        and name not in map(os.path.basename, built):
                    fail(f"product does not build {name}")

    def check_uninstall(self):
        other = os.path.join(self.prefix, "share/man/man3/other.3")
        with open(other, "w", encoding="utf-8"):
            pass
        self.must_refuse("/opt/slay")
        self.must_refuse(PREFIX, "")
        # These come later, and do not replace the list of the first.
        second = os.path.join(self.tree, "second")
        empty = os.path.join(second, "share/man/man7")
        os.makedirs(empty)
        self.install(second, "")
        self.install(PREFIX, self.stage + "2")
        here, there = files_in(second), files_in(self.stage + "2")
        self.must_uninstall(PREFIX + "/", self.stage + "/")
        self.check_left(self.stage, other)
        if files_in(second) != here or files_in(self.stage + "2") != there:
            fail("an uninstall took what was installed elsewhere")
        self.must_refuse(PREFIX)
        self.must_uninstall(second, "")
        self.check_left(second, empty)
        if files_in(self.stage + "2") != there:
            fail("an uninstall took what was installed elsewhere")
        self.check_older()

    def check_older(self):
        """What only an older install put down goes as well."""
        stage = self.stage + "2"
        lists = os.path.join(self.args.build, "installed")
        for path in os.listdir(lists):
            path = os.path.join(lists, path)
            with open(path, encoding="utf-8") as file:
                mine = f"DESTDIR={stage}\n" in file.readlines()
            if mine:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(f"{PREFIX}/lib/libsley-old\n")
        old = stage + PREFIX + "/lib/libsley-old"
        os.makedirs(os.path.dirname(old), exist_ok=True)
        with open(old, "w", encoding="utf-8"):
            pass
        self.install(PREFIX, stage)
        self.must_uninstall(PREFIX, stage)
        self.check_left(stage)

    def check_left(self, tree, *others):
        """Nothing but the files and folders of others, and what they are in."""
        left = {os.path.join(folder, name)
                for folder, folders, names in os.walk(tree)
                for name in folders + names}
        for other in others:
            if other not in left:
                fail(f"{other} of somebody else is gone")
        left = [path for path in left if not any(
            other.startswith(path) for other in others)]
        if left:
            fail(f"left: {sorted(left)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cmake", "cc", "cxx", "source", "build", "program",
                 "http", "alloca", "version", "node"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--config", default="")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as tree:
        installed = Installed(args, tree)
        installed.check_library("libsley")
        major = args.version.split(".", maxsplit=1)[0]
        installed.check_library("libsley-http", f"libsley.so.{major}")
        if args.config:
            installed.check_library("libsley-config", f"libsley.so.{major}",
                                    "libyaml-0.so.2")
        installed.check_files()
        installed.check_links()
        installed.check_product()
        installed.build_with_pkg_config()
        installed.build_with_cmake()
        installed.check_uninstall()
    print(f"install: {19 if args.config else 15} programs built and run, "
          "nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
