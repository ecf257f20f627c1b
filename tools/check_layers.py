#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers - a folder of src/ includes only what layers.txt allows.

Also: layers.txt has no cycles (a folder may only name folders above its own
line), every folder is in it, public headers include public and standard C
headers only, and programs and examples see no header of src/.
"""
import os
import re

import csource

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
# The seam of the explorer; the header is in tests/model.
SEAMS = {("src/base/atomic.h", "model_atomic.h")}
STANDARD = {"stdbool.h", "stddef.h", "stdint.h"}


def read_layers(root, report):
    layers = {}
    path = "tools/layers.txt"
    for number, line in enumerate(csource.read(root, path).splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, _, below = line.partition(":")
        for name in below.split():
            if name not in layers:
                report.add(path, number,
                           f"'{folder}' may include '{name}', which does not "
                           f"stand above this line")
        layers[folder.strip()] = set(below.split())
    return layers


def includes(root, path):
    text = csource.read(root, path)
    code = csource.blank(text, strings=False)
    for match in INCLUDE.finditer(code):
        yield (csource.line_of(code, match.start()), match.group(1),
               match.group(2))


def check_source(root, path, layers, report):
    folder = path.split("/")[1]
    if folder not in layers:
        report.add(path, 1, f"folder '{folder}' is not in tools/layers.txt")
        return
    for line, kind, name in includes(root, path):
        if kind == "<" or (path, name) in SEAMS:
            continue
        target = name.split("/")[0]
        if "/" not in name or target == "..":
            report.add(path, line, f'write "{folder}/..." for "{name}": '
                                   f"include paths start in src/")
        elif target != folder and target not in layers[folder]:
            report.add(path, line, f"'{folder}' may not include '{target}'")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_layers")
    layers = read_layers(root, report)
    sources = csource.files(root, "src/*/*.[chS]")
    for path in sources:
        check_source(root, path, layers, report)
    for path in csource.files(root, "include/sley/*.h"):
        for line, kind, name in includes(root, path):
            if kind != "<" or not (name in STANDARD or
                                   name.startswith("sley/")):
                report.add(path, line, f"a public header includes {name}")
    for path in csource.files(root, "programs/*.[ch]", "examples/*.[ch]"):
        for line, _, name in includes(root, path):
            if name.split("/")[0] in layers and "/" in name:
                report.add(path, line, f"{os.path.dirname(path)} sees only "
                                       f"installed headers, not {name}")
    return report.finish(len(sources))


if __name__ == "__main__":
    csource.run(main)
