#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_size - what can be held in the head at once.

A file has at most 800 lines, a function 70 and 6 parameters, an example 60
lines.  The limits are where to stop, not what to aim for.
"""
import csource

FILE_LINES = 800
FUNCTION_LINES = 70
PARAMETERS = 6
EXAMPLE_LINES = 60


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_size")
    paths = csource.files(root, "*.c", "*.h", "*.S", "*.cpp")
    for path in paths:
        text = csource.read(root, path)
        lines = text.count("\n")
        limit = FILE_LINES
        if path.startswith("examples/"):
            limit = EXAMPLE_LINES
        if lines > limit:
            report.add(path, lines, f"{lines} lines, more than {limit}")
        if path.endswith((".S", ".cpp")):
            continue
        for name, first, last, parameters in csource.functions(text):
            length = last - first + 1
            if length > FUNCTION_LINES:
                report.add(path, first, f"{name}() has {length} lines, more "
                                        f"than {FUNCTION_LINES}")
            if len(parameters) > PARAMETERS:
                report.add(path, first,
                           f"{name}() has {len(parameters)} parameters, more "
                           f"than {PARAMETERS}")
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
