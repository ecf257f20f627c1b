#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_rows - docs/CONFORMANCE.md says which tests stand for which row.

- A row is "| M7 | what | tests | note |", and is there once.
- Each name in backquotes in its third column is a test: the name in a TEST(),
  with * for many, or what ctest calls it (`api.install`).
- A row without a test says "not done", and then nothing is named after it.
- A test that is named after a row, m07_..., is in that row.
"""
import fnmatch
import re

import csource

PAGE = "docs/CONFORMANCE.md"
ROW = re.compile(r"^\| ([A-Z])(\d+) \|([^|]*)\|([^|]*)\|", re.M)
TEST = re.compile(r"^TEST(?:_WORKERS|_ABORTS)?\(\s*(\w+)", re.M)
CTEST = re.compile(r"^\s*sley_(test|script_test|model|example)"
                   r"\(([\w-]+)(?:\s+([\w-]+))?", re.M)
NAMED = re.compile(r"([a-z])(\d\d)_")


def ctest_name(kind, first, second):
    if kind in ("model", "example"):
        return ("model." if kind == "model" else "examples.") + first
    return f"{first}.{second}"


def find_tests(root):
    """name -> (path, line) of every test."""
    tests = {}
    for path in csource.files(root, "tests/*.c"):
        text = csource.blank(csource.read(root, path))
        for match in TEST.finditer(text):
            tests[match.group(1)] = (path, csource.line_of(text,
                                                           match.start()))
    for path in csource.files(root, "*CMakeLists.txt"):
        text = re.sub(r"#[^\n]*", "", csource.read(root, path))
        for match in CTEST.finditer(text):
            tests[ctest_name(*match.groups())] = (
                path, csource.line_of(text, match.start()))
    return tests


def check_row(match, line, tests, report):
    """The names of the row's tests."""
    row = match.group(1) + match.group(2)
    patterns = re.findall(r"`([^`]+)`", match.group(4))
    named = {name for pattern in patterns
             for name in fnmatch.filter(tests, pattern)}
    for pattern in patterns:
        if not fnmatch.filter(tests, pattern):
            report.add(PAGE, line, f"{row}: there is no test {pattern}")
    if not patterns and "not done" not in match.group(4):
        report.add(PAGE, line, f"{row}: has no test and is not 'not done'")
    return named


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_rows")
    if PAGE not in csource.files(root, PAGE):
        return report.finish(0)
    page, tests, rows = csource.read(root, PAGE), find_tests(root), {}
    for match in ROW.finditer(page):
        line = csource.line_of(page, match.start())
        row = (match.group(1).lower(), int(match.group(2)))
        if row in rows:
            report.add(PAGE, line, f"{match.group(1)}{row[1]} is there twice")
        rows[row] = check_row(match, line, tests, report)
    for name, (path, line) in sorted(tests.items()):
        match = NAMED.match(name)
        if not match:
            continue
        letter, number = match.group(1), int(match.group(2))
        if name not in rows.get((letter, number), ()):
            report.add(path, line, f"{name} is not in row "
                       f"{letter.upper()}{number} of {PAGE}")
    return report.finish(len(rows), "rows")


if __name__ == "__main__":
    csource.run(main)
