# SPDX-License-Identifier: MIT
"""overlay - programs of a build, built again with one source changed.

Nothing of the tree or of its build is touched.  The changed file is written to
a folder of its own, which the compiler searches first.  The objects that depend
on the file are compiled into that folder, with the commands of the build, and
the program is linked with them in place of its own.  An object of an archive is
put in front of the archive: the linker then has no reason to take the archive's.
A test that includes the changed source has all that the object of the source has,
so for such a test nothing is put there.

What ninja knows is asked for: its commands, and which object includes what.  So
it does not matter how targets are called or which sources they are made of.  A
test is found by the name that ctest has for it.
"""
import json
import os
import shlex
import subprocess
import threading


class BuildError(Exception):
    """A mutant that cannot be built shows nothing."""


class Test:
    """What ctest runs under a name."""

    def __init__(self, entry):
        properties = {p["name"]: p["value"]
                      for p in entry.get("properties", [])}
        self.name = entry["name"]
        self.command = entry["command"]
        self.labels = properties.get("LABELS", [])
        self.timeout = properties.get("TIMEOUT", 120.0)
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.environment = dict(
            pair.partition("=")[::2]
            for pair in properties.get("ENVIRONMENT", []))


class Build:
    def __init__(self, root, folder):
        self.root = os.path.realpath(root)
        self.folder = os.path.realpath(folder)
        self._commands = self._deps = self._tests = None
        self._parts = {}
        self._lock = threading.RLock()

    def ask(self, *command):
        done = subprocess.run(command, cwd=self.folder, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise BuildError(f"{' '.join(command)}:\n"
                             + (done.stdout + done.stderr).decode()[-2000:])
        return done.stdout.decode()

    @property
    def commands(self):
        """Output -> command, as ninja would run it in the build's folder."""
        with self._lock:
            if self._commands is None:
                self._commands = {
                    e["output"]: e["command"]
                    for e in json.loads(self.ask("ninja", "-t", "compdb"))}
            return self._commands

    @property
    def deps(self):
        """Object -> the files it was made of, from the root of the sources."""
        with self._lock:
            if self._deps is None:
                self._deps = self.read_deps(self.ask("ninja", "-t", "deps"))
            return self._deps

    def read_deps(self, text):
        deps, current, seen = {}, set(), {}
        for line in text.split("\n"):
            if line.startswith("    "):
                path = line.strip()
                if path not in seen:
                    full = os.path.join(self.folder, path)
                    seen[path] = os.path.relpath(os.path.realpath(full),
                                                 self.root)
                current.add(seen[path])
            elif ": #deps" in line:
                current = deps.setdefault(line.partition(": #deps")[0], set())
        return deps

    @property
    def tests(self):
        """Name -> Test, of all that ctest knows."""
        with self._lock:
            if self._tests is None:
                text = self.ask("ctest", "--show-only=json-v1")
                self._tests = {e["name"]: Test(e)
                               for e in json.loads(text)["tests"]
                               if e.get("command")}
            return self._tests

    def output(self, path):
        """A program of the build as ninja calls it; None: it is not one."""
        name = os.path.relpath(os.path.realpath(path), self.folder)
        return name if name in self.commands else None

    def update(self, outputs):
        """The programs as the sources are now."""
        self.ask("ninja", *sorted(outputs))
        with self._lock:
            self._deps = None

    # ---- what is made of what ------------------------------------------------

    def parts(self, output):
        """The words of its link or archive command."""
        with self._lock:
            if output not in self._parts:
                self._parts[output] = next(
                    (part.split() for part in
                     self.commands.get(output, "").split(" && ")
                     if ".o " in part + " "), [])
            return self._parts[output]

    def is_archive(self, word):
        return word.endswith(".a") and word in self.commands

    def archives(self, word):
        """What stands for the library in a link; the whole library has hidden
        names, of which nothing can be replaced."""
        if os.path.basename(word).startswith("libsley."):
            return ["src/libsley_internal.a"]
        return [word] if self.is_archive(word) else []

    def objects(self, output):
        """All objects in the program."""
        found = []
        for word in self.parts(output):
            if word == output:
                continue
            if word.endswith(".o"):
                found.append(word)
            for archive in self.archives(word):
                found += self.objects(archive)
        return found

    def affected(self, output, path):
        """Those of them that are made of path, and are in the program."""
        found = [o for o in self.objects(output)
                 if path in self.deps.get(o, ())]
        own = [o for o in found if o in self.parts(output)]
        return own if own and path.endswith(".c") else found

    # ---- making -----------------------------------------------------------------

    def compile_command(self, obj, path, folder):
        words = shlex.split(self.commands[obj])
        source = os.path.join(self.root, path)
        first = next(i for i, w in enumerate(words) if w.startswith("-"))
        target = os.path.join(folder, obj)
        out = words[:first]
        for name in ("src", "include", "tests/model"):
            out.append("-I" + os.path.join(folder, name))
        skip = False
        for i, word in enumerate(words[first:], first):
            if skip:
                skip = False
            elif word in ("-MT", "-MF"):
                skip = True
            elif word == "-MD":
                continue
            elif words[i - 1] == "-o":
                out.append(target)
            elif os.path.realpath(os.path.join(self.folder, word)) == source:
                out.append(os.path.join(folder, path))
            else:
                out.append(word)
        # A variable that nothing uses any more is no reason to refuse it.  Debug
        # information is a sixth of the work, and changes no code.
        return out + ["-w", "-g0"], target

    @staticmethod
    def target(output, folder):
        """Apart from the sources: programs/sley is a folder of them, too."""
        return os.path.join(folder, "made", output)

    def link_command(self, output, changed, folder):
        out = []
        words = self.parts(output)
        pending = dict(changed)
        for i, word in enumerate(words):
            if words[i - 1] == "-o":
                out.append(self.target(output, folder))
                continue
            if word in pending:
                out.append(pending.pop(word))
                continue
            archives = self.archives(word)
            for archive in archives:
                out += [pending.pop(o) for o in self.objects(archive)
                        if o in pending]
            out += archives or [word]
        return out

    def make(self, output, path, text, folder):
        """The program with text in place of the file at path.  Objects that
        are there already are taken: another program had them made."""
        source = os.path.join(folder, path)
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        affected = self.affected(output, path)
        if not affected:
            raise BuildError(f"{output} is not made of {path}")
        changed = {}
        for obj in affected:
            command, changed[obj] = self.compile_command(obj, path, folder)
            if not os.path.exists(changed[obj]):
                os.makedirs(os.path.dirname(changed[obj]), exist_ok=True)
                self.ask(*command)
        program = self.target(output, folder)
        os.makedirs(os.path.dirname(program), exist_ok=True)
        self.ask(*self.link_command(output, changed, folder))
        return program
