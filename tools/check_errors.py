#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_errors - no program that teaches turns an error into 1.

"err = a() || b()" is 0 or 1: which error it was is lost.  Looked at are the
examples, the C in the documents and the programs in the manual pages that are
written by hand.  A value of || is not kept in a variable, nor returned, if one
of its operands is a call or a variable whose name ends with "err"; nor is a call
added to a variable with |=, which mixes two errors into a third.

It may be kept in a bool, returned by a function that returns bool, returned by
main(), whose status is 0 or 1, and tested: "if (a() || b())".
"""
import re

import csource
import mdsource

KEPT = re.compile(r"(?:\breturn\b|(?P<target>[\w.>\])*&-]+)\s*(?<![=!<>])=(?!=))"
                  r"(?P<value>[^;{}]*(?:\{[^;{}]*\}[^;{}]*)*);")
MIXED = re.compile(r"\|=\s*\w+\s*\(")
BARE = re.compile(r"!?\s*(?:\w+\s*\(|(?:\w|->|\.)*err\s*$)")


def operands(value):
    """What stands between the || that are in no parentheses; [] for none."""
    depth, parts, start = 0, [], 0
    for at, char in enumerate(value):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and char in "?,":
            return []
        if depth == 0 and value[at:at + 2] == "||":
            parts.append(value[start:at].strip())
            start = at + 2
    return parts + [value[start:].strip()] if parts else []


def is_error(operand):
    """Whether it is a call or an error as it is, and not compared."""
    if not BARE.match(operand) or operand.startswith("!"):
        return False
    rest = re.sub(r"\([^()]*\)", "", operand)
    while rest != operand:
        operand, rest = rest, re.sub(r"\([^()]*\)", "", rest)
    return not re.search(r"[=!<>]=|[<>&|]", rest.replace("->", "."))


def heads(code):
    """(offset of the body, its end, head) of each function."""
    for offset, head, body in csource.statements(code):
        if body is not None and csource.outer_call(head)[0]:
            yield offset + len(head), offset + len(head) + len(body), head


def find(text):
    """The lines with a lost error."""
    code = csource.blank_directives(csource.blank(text))
    for match in MIXED.finditer(code):
        yield csource.line_of(code, match.start())
    functions = list(heads(code))
    for match in KEPT.finditer(code):
        if not any(map(is_error, operands(match["value"]))):
            continue
        head = next((h for start, end, h in functions
                     if start <= match.start() < end), "")
        if match["target"]:
            name = re.findall(r"\w+", match["target"])[-1]
            if re.search(rf"\bbool\b[^;{{}}()]*\b{name}\b", code):
                continue
        elif re.search(r"\bbool\b[^(]*\(|\bmain\s*\(", head):
            continue
        yield csource.line_of(code, match.start())


def programs(root):
    """(path, first line, text) of each."""
    for path in csource.files(root, "examples/*.c", "examples/*.cpp"):
        yield path, 1, csource.read(root, path)
    for path in csource.files(root, "*.md"):
        for block in mdsource.blocks(path, csource.read(root, path)):
            if block.language:
                yield path, block.line, block.text
    for path in csource.files(root, "man/*"):
        for block in mdsource.manual_blocks(path, csource.read(root, path)):
            yield path, block.line, block.text


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_errors")
    nr = 0
    for path, first, text in programs(root):
        nr += 1
        for line in find(text):
            report.add(path, first + line - 1,
                       "this loses which error it was: write "
                       "'err = a(); if (!err) err = b();'")
    return report.finish(nr, "programs")


if __name__ == "__main__":
    csource.run(main)
