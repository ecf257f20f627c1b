#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers - a folder of src/ includes only what layers.txt allows.

Also: layers.txt has no cycles (a folder may only name folders above its own
line), every folder is in it, public headers include public and standard C
headers only, and programs and examples see no header of src/.

A folder with folders in it has a line for itself, which says what all of them may
include, and an indented line for each of them, which says what it may include of
its sisters.  Sisters may include each other; but a permission that no file uses is
an error, so that these lines say what is true.
"""
import os
import re

import csource

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# The seam of the explorer; the header is in tests/model.
SEAMS = {("src/base/atomic.h", "model_atomic.h")}
STANDARD = {"stdbool.h", "stddef.h", "stdint.h"}
# Of POSIX, for types alone: other headers declare names that programs use.
POSIX = {"sys/select.h", "sys/types.h"}


class Layers:
    """What tools/layers.txt says."""
    PATH = "tools/layers.txt"

    def __init__(self, root, report):
        self.below, self.sisters = {}, {}
        self.lines, self.unused = {}, set()
        text = csource.read(root, self.PATH)
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0]
            if line.strip():
                self.take(line, number, report)

    def take(self, line, number, report):
        folder, _, names = line.partition(":")
        is_inner, folder = folder != folder.lstrip(), folder.strip()
        self.lines[folder] = number
        if is_inner:
            self.sisters[folder] = set(names.split())
            self.unused |= {(folder, n) for n in names.split()}
            return
        for name in names.split():
            if name not in self.below:
                report.add(self.PATH, number,
                           f"'{folder}' may include '{name}', which does not "
                           f"stand above this line")
        self.below[folder] = set(names.split())

    def folder_of(self, path):
        """The folder of a path below src/: "core/wait", or "lf"."""
        parts = path.split("/")
        if len(parts) > 2 and "/".join(parts[:2]) in self.sisters:
            return "/".join(parts[:2])
        return parts[0]

    def is_house(self, folder):
        """Does it have folders of its own in layers.txt?"""
        return any(s.startswith(folder + "/") for s in self.sisters)

    def allows(self, folder, target):
        top, target_top = folder.split("/")[0], target.split("/")[0]
        if top != target_top:
            return target_top in self.below[top]
        self.unused.discard((folder, target))
        return folder == target or target in self.sisters.get(folder, ())

    def finish(self, report):
        for folder, name in sorted(self.unused):
            report.add(self.PATH, self.lines[folder],
                       f"'{folder}' includes nothing of '{name}': take it out")


def includes(root, path):
    text = csource.read(root, path)
    code = csource.blank(text, strings=False)
    for match in INCLUDE.finditer(code):
        yield (csource.line_of(code, match.start()), match.group(1),
               match.group(2))


def check_source(root, path, layers, report):
    inside = path.partition("/")[2]
    folder = layers.folder_of(inside)
    if folder not in layers.sisters and (folder not in layers.below or
                                         layers.is_house(folder)):
        report.add(path, 1, f"folder '{os.path.dirname(inside)}' is not in "
                            f"tools/layers.txt")
        return
    for line, kind, name in includes(root, path):
        if kind == "<" or (path, name) in SEAMS:
            continue
        target = layers.folder_of(name)
        if "/" not in name or target == "..":
            report.add(path, line, f'write "{folder}/..." for "{name}": '
                                   f"include paths start in src/")
        elif not layers.allows(folder, target):
            report.add(path, line, f"'{folder}' may not include '{target}'")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_layers")
    layers = Layers(root, report)
    sources = csource.files(root, "src/*.c", "src/*.h", "src/*.S")
    for path in sources:
        check_source(root, path, layers, report)
    layers.finish(report)
    for path in csource.files(root, "include/sley/*.h"):
        for line, kind, name in includes(root, path):
            if kind != "<" or not (name in STANDARD | POSIX or
                                   name.startswith("sley/")):
                report.add(path, line, f"a public header includes {name}")
    for path in csource.files(root, "programs/*.[ch]", "examples/*.[ch]"):
        for line, _, name in includes(root, path):
            if name.split("/")[0] in layers.below and "/" in name:
                report.add(path, line, f"{os.path.dirname(path)} sees only "
                                       f"installed headers, not {name}")
    return report.finish(len(sources))


if __name__ == "__main__":
    csource.run(main)
