#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_rows - docs/CONFORMANCE.md says which tests stand for which row.

- A row is "| M7 | what | tests | note |", and is there once.  Its name is a
  letter and a number; a race of the same page is R-S1, R-C1 or R-U1.
- Each name in backquotes in its third column is a test: the name in a TEST(),
  with * for many, or what ctest calls it (`api.install`).
- A row without a test says "not done", and then nothing is named after it.
- A test that is named after a row, m07_... or rs1_..., is in that row.
- A line of a table whose first word looks like a row is one: nothing is left
  out because of its form.
- A trap, "| U-T1 | what | tests | note |", has tests, too; none is named after it.
"""
import fnmatch
import re

import csource

PAGE = "docs/CONFORMANCE.md"
NAME = r"(?:R-[A-Z]|[A-Z])\d+"
ROW = re.compile(rf"^\| ({NAME}) \|([^|]*)\|([^|]*)\|", re.M)
TRAP = re.compile(r"^\| ([A-Z]-T\d+) \|([^|]*)\|([^|]*)\|", re.M)
LIKE_ROW = re.compile(rf"^\|[ *`]*((?:R-)?[A-Z]-?\d+)\b", re.M)
TEST = re.compile(r"^(?:CLIENT_)?TEST(?:_WORKERS|_ABORTS)?\(\s*(\w+)", re.M)
CTEST = re.compile(r"^\s*sley_(test|script_test|model|example)"
                   r"\(([\w-]+)(?:\s+(?:[\w-]+/)?([\w-]+))?", re.M)
ADD_TEST = re.compile(r"^\s*add_test\(NAME ([\w.-]+)", re.M)
NAMED = re.compile(r"(?:([a-z])(\d\d)|(r[a-z])(\d{1,2}))_")


class Test:
    """Where it is, and the program of ctest that has it."""

    def __init__(self, path, line, ctest):
        self.path, self.line, self.ctest = path, line, ctest


class Row:
    def __init__(self, match, line):
        self.name, self.line = match.group(1), line
        self.cell = match.group(3)
        self.patterns = re.findall(r"`([^`]+)`", self.cell)


def ctest_name(kind, first, second):
    if kind in ("model", "example"):
        return ("model." if kind == "model" else "examples.") + first
    return f"{first}.{second}"


def ctest_of(path):
    """tests/unit/box.c, tests/unit/x/box.c: unit.box, whatever its program."""
    parts = re.sub(r"\.\w+$", "", path).split("/")
    return f"{parts[1]}.{parts[-1]}"


def find_tests(root):
    """name -> Test, of every test."""
    tests = {}
    for path in csource.files(root, "tests/*.c"):
        text = csource.blank(csource.read(root, path))
        for found in TEST.finditer(text):
            line = csource.line_of(text, found.start())
            ctest = ctest_of(path)
            tests[found.group(1)] = Test(path, line, ctest)
            tests.setdefault(ctest, Test(path, 1, ctest))
    for path in csource.files(root, "*CMakeLists.txt"):
        text = re.sub(r"#[^\n]*", "", csource.read(root, path))
        for found in CTEST.finditer(text):
            name = ctest_name(*found.groups())
            tests[name] = Test(path, csource.line_of(text, found.start()),
                               name)
        for found in ADD_TEST.finditer(text):
            tests[found.group(1)] = Test(
                path, csource.line_of(text, found.start()), found.group(1))
    return tests


def match(tests, pattern):
    """The names of the tests that a pattern stands for."""
    return [pattern] if pattern in tests else fnmatch.filter(tests, pattern)


def read_rows(page, report=None):
    """name -> Row, in the order of the page."""
    rows = {}
    for found in ROW.finditer(page):
        row = Row(found, csource.line_of(page, found.start()))
        if row.name in rows and report:
            report.add(PAGE, row.line, f"{row.name} is there twice")
        rows[row.name] = row
    for found in LIKE_ROW.finditer(page) if report else ():
        if not ROW.match(page, found.start()):
            report.add(PAGE, csource.line_of(page, found.start()),
                       f"{found.group(1)} is not | row | what | tests |")
    return rows


def row_of(test):
    """The row that a test is named after; None: it is not."""
    found = NAMED.match(test)
    if not found:
        return None
    if found.group(1):
        return f"{found.group(1).upper()}{int(found.group(2))}"
    return f"R-{found.group(3)[1].upper()}{int(found.group(4))}"


def check_row(row, tests, report):
    """The names of the row's tests."""
    named = {name for pattern in row.patterns
             for name in match(tests, pattern)}
    for pattern in row.patterns:
        if not match(tests, pattern):
            report.add(PAGE, row.line,
                       f"{row.name}: there is no test {pattern}")
    if not row.patterns and "not done" not in row.cell:
        report.add(PAGE, row.line,
                   f"{row.name}: has no test and is not 'not done'")
    return named


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_rows")
    if PAGE not in csource.files(root, PAGE):
        return report.finish(0)
    tests = find_tests(root)
    page = csource.read(root, PAGE)
    rows = {name: check_row(row, tests, report) for name, row in
            read_rows(page, report).items()}
    for found in TRAP.finditer(page):
        check_row(Row(found, csource.line_of(page, found.start())), tests,
                  report)
    for name, test in sorted(tests.items()):
        row = row_of(name)
        if row and name not in rows.get(row, ()):
            report.add(test.path, test.line,
                       f"{name} is not in row {row} of {PAGE}")
    return report.finish(len(rows), "rows")


if __name__ == "__main__":
    csource.run(main)
