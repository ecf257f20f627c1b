#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_owners - the atomics of a struct are touched in its own files.

A struct belongs to the file that defines it, and to the .c and .h of the same
name.  An atomic operation (base/atomic.h) on one of its fields anywhere else is an
error, unless tools/owners.txt lists the field with the file and the reason:

    worker.poke  core/wait/timer.c core/sched/monitor.c
        An alarm that comes first asks its worker to look at the clock.

A line that no operation needs is an error, too, so that the list may only shrink.
A struct of a public header has its home in src/:

    home sley_task core/task/task_state.h

and a name that stands before "->" or "." everywhere for one struct its type:

    type sley__level_changes level_changes

The type of what stands before "->" is found without a parser: from declarations
in the same file, then from the fields of all structs.  An operation whose struct
cannot be told is an error; name the variable by its struct, or declare it in this
file.
"""
import re

import csource

OPERATION = re.compile(
    r"\b(?:load|store|xchg|cas|add|sub|or|and)_"
    r"(?:relaxed|acquire|release|acq_rel_acquire|acq_rel|seq_cst)\s*\(")
STRUCT = re.compile(r"^(?:static |extern )?(?:union|struct) (\w+) \{(.*?)^\}", re.S | re.M)
FIELD = re.compile(r"\b(\w+)(?:\[[^\]]*\])?\s*(?:;|,)")
TYPED = re.compile(r"\b(?:struct|union) (\w+)\s*(?:const\s*)?\**\s*"
                   r"(?:const\s+)?\**(\w+)\b")
LIST = "tools/owners.txt"


def stem(path):
    return re.sub(r"^src/|\.\w+$", "", path)


class Structs:
    """All structs of src/ and include/, their fields and where they are."""

    def __init__(self, root):
        self.home, self.fields, self.members = {}, {}, {}
        for path in csource.files(root, "src/*.c", "src/*.h",
                                  "include/sley/*.h"):
            code = csource.blank(csource.read(root, path))
            for match in STRUCT.finditer(code):
                self.take(path, match.group(1), match.group(2))

    def take(self, path, name, body):
        self.home.setdefault(name, set()).add(stem(path))
        for field in FIELD.findall(body):
            self.fields.setdefault(field, set()).add(name)
        for kind, field in TYPED.findall(body):
            self.members.setdefault(field, set()).add(kind)

    def of(self, code, offset, base, field):
        """Which struct @base->@field is in, as a set of candidates."""
        having = self.fields.get(field, set())
        before = [t for t in TYPED.finditer(code, 0, offset)
                  if t.group(2) == base]
        if before and before[-1].group(1) in having:
            return {before[-1].group(1)}
        return having & self.members.get(base, set()) or having


class Exceptions:
    def __init__(self, root, report):
        self.unused, self.homes, self.types = {}, {}, {}
        reason_of = None
        for number, line in enumerate(
                csource.read(root, LIST).splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line[0] in " \t":
                reason_of = None
                continue
            if reason_of:
                report.add(LIST, number - 1, f"{reason_of}: no reason")
            field, *places = line.split()
            if field in ("home", "type"):
                reason_of = None
                if field == "home":
                    self.homes[places[0]] = [stem(p) for p in places[1:]]
                else:
                    self.types[places[0]] = places[1]
                continue
            reason_of = field
            for place in places:
                self.unused[field, stem(place)] = number
        if reason_of:
            report.add(LIST, number, f"{reason_of}: no reason")
        self.allowed = set(self.unused)

    def allow(self, field, place):
        self.unused.pop((field, place), None)
        return (field, place) in self.allowed

    def finish(self, report):
        for (field, place), line in sorted(self.unused.items()):
            report.add(LIST, line, f"{field}: {place} does not touch it")


def argument(code, start):
    """The first argument of the call whose parenthesis ends at start."""
    depth, at = 0, start
    while depth or code[at] not in ",)":
        depth += (code[at] in "([") - (code[at] in ")]")
        at += 1
    return " ".join(code[start:at].split())


def check_file(path, code, structs, exceptions, report):
    for match in OPERATION.finditer(code):
        what = argument(code, match.end())
        target = re.search(r"(\w+)(?:\[[^\]]*\]|\([^()]*\))*"
                           r"(?:->|\.)(\w+)(?:\[.*\])?$", what)
        if not target:
            continue
        base, field = target.groups()
        if base in exceptions.types:
            owners = {exceptions.types[base]}
        else:
            owners = structs.of(code, match.start(), base, field)
        homes = {h for o in owners
                 for h in exceptions.homes.get(o, structs.home[o])}
        line = csource.line_of(code, match.start())
        if stem(path) in homes or not owners:
            continue
        if len(owners) > 1:
            report.add(path, line, f"{base}->{field}: of which struct?  "
                                   f"{', '.join(sorted(owners))}")
            continue
        name = f"{owners.pop()}.{field}"
        if not exceptions.allow(name, stem(path)):
            report.add(path, line, f"{name} belongs to {homes.pop()}: call a "
                                   f"function there, or list it in {LIST}")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_owners")
    structs, exceptions = Structs(root), Exceptions(root, report)
    paths = [p for p in csource.files(root, "src/*.c", "src/*.h")
             if p != "src/base/atomic.h"]
    for path in paths:
        code = csource.blank(csource.read(root, path))
        check_file(path, code, structs, exceptions, report)
    exceptions.finish(report)
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
