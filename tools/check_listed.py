#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_listed - every source file is built, every test is run.

The lists in CMakeLists.txt are written by hand; a file that is in none would
be dead without anybody noticing.  A file must be named, with its path or
without its ending, in the nearest CMakeLists.txt above it.  A line that puts
tests into one program, sley_test_group(), does not run them and does not count.
"""
import os
import re

import csource


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_listed")
    lists = {os.path.dirname(path):
             re.sub(r"#[^\n]*|\bsley_test_group\([^)]*\)", "",
                    csource.read(root, path))
             for path in csource.files(root, "*CMakeLists.txt")}
    paths = csource.files(root, "*.c", "*.S", "*.cpp")
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in lists and folder:
            folder = os.path.dirname(folder)
        name = os.path.relpath(path, folder or ".")
        names = "|".join(map(re.escape, (name, os.path.splitext(name)[0])))
        if not re.search(rf"(?<![\w./-])({names})(?![\w./-])",
                         lists.get(folder, "").replace(
                             "${CMAKE_CURRENT_SOURCE_DIR}/", "")):
            report.add(path, 1, "is not in "
                       + os.path.join(folder, "CMakeLists.txt"))
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
