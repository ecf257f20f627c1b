# SPDX-License-Identifier: MIT
"""csource - reading C source, for the checkers in this folder.

No parser: comments and strings are blanked so that line numbers stay, and
what is left is searched with regular expressions.  The sources are formatted
by clang-format, which makes that reliable.
"""
import argparse
import fnmatch
import os
import re
import subprocess
import sys

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')""",
    re.S | re.X)


def files(root, *patterns):
    """Paths below root, relative, that match one of the patterns.

    In a checkout these are the files git tracks or would track.
    """
    found = []
    if os.path.exists(os.path.join(root, ".git")):
        try:
            listing = subprocess.run(
                ["git", "-C", root, "ls-files", "-coz", "--exclude-standard"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            found = listing.stdout.decode().split("\0")
        except (OSError, subprocess.CalledProcessError):
            found = []
    if not found:
        for folder, subfolders, names in os.walk(root):
            subfolders[:] = [s for s in subfolders
                             if not s.startswith((".git", "build"))
                             and s != "__pycache__"]
            found += [os.path.relpath(os.path.join(folder, n), root)
                      for n in names]
    return sorted(
        {path for path in found
         if path and os.path.isfile(os.path.join(root, path))
         and any(fnmatch.fnmatch(path, p) for p in patterns)})


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def blank(text, strings=True):
    """text with comments (and strings) replaced by spaces."""
    def replace(match):
        if match.group("comment") or strings:
            return spaces(match.group())
        return match.group()
    return TOKEN.sub(replace, text)


def comments(text):
    """text with everything but comments replaced by spaces."""
    out, end = [], 0
    for match in TOKEN.finditer(text):
        if match.group("comment"):
            out += [spaces(text[end:match.start()]), match.group()]
            end = match.end()
    return "".join(out) + spaces(text[end:])


def blank_directives(code):
    """code (already blank()ed) without its preprocessor lines."""
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: spaces(m.group()),
                  code, flags=re.M)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def split_parameters(text):
    """The parameters between the parentheses of a function."""
    depth, parts, current = 0, [], ""
    for char in text:
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
            continue
        depth += (char in "([") - (char in ")]")
        current += char
    parts = [p.strip() for p in parts + [current]]
    return [] if parts in ([""], ["void"]) else parts


def statements(code):
    """Top-level statements of blanked code: (offset, text, body or None).

    A function or struct comes with its braces as body; text is what precedes.
    extern "C" is a macro in our headers and does not disturb.
    """
    start, depth, body_start = 0, 0, None
    for match in re.finditer(r"[{};]", code):
        char, at = match.group(), match.start()
        if char == "{":
            if depth == 0:
                body_start = at
            depth += 1
        elif char == "}":
            depth -= 1
            text = code[start:body_start]
            if depth == 0 and re.search(r"\)\s*$", text):
                yield start, text, code[body_start:at + 1]
                start, body_start = at + 1, None
        elif depth == 0:
            if body_start is None:
                yield start, code[start:at], None
            else:
                yield start, code[start:body_start], code[body_start:at]
            start, body_start = at + 1, None



def functions(text):
    """(name, first line, last line, parameters) of each definition."""
    code = blank_directives(blank(text))
    for offset, head, body in statements(code):
        if body is None:
            continue
        match = re.search(r"\b(\w+)\s*\(", head)
        if not match or re.match(r"\s*(struct|union|enum)\b[^()]*$", head):
            continue
        # Attributes before the name have parentheses, too: take the last
        # group at depth 0.
        name, parameters = outer_call(head)
        if not name:
            continue
        first = line_of(code, offset + len(head) - len(head.lstrip()))
        last = line_of(code, offset + len(head) + len(body) - 1)
        yield name, first, last, split_parameters(parameters)


def outer_call(head):
    """Name and parameters of the last `name(...)` at depth 0 of head."""
    depth, result, start = 0, (None, ""), 0
    for at, char in enumerate(head):
        if char == "(":
            if depth == 0:
                start = at
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                name = re.search(r"(\w+)\s*$", head[:start])
                if name and name.group(1) != "__attribute__":
                    result = (name.group(1), head[start + 1:at])
    return result


class Report:
    """Collects complaints and turns them into an exit status."""

    def __init__(self, name):
        self.name = name
        self.count = 0

    def add(self, path, line, text):
        self.count += 1
        print(f"{path}:{line}: {text}")

    def finish(self, checked, what="files"):
        if not checked:
            print(f"{self.name}: found nothing to check")
            return 1
        print(f"{self.name}: {checked} {what}, {self.count} complaints")
        return 1 if self.count else 0


def root_argument(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=os.path.dirname(
        os.path.dirname(os.path.abspath(__file__))))
    return parser


def run(main):
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
