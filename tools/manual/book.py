# SPDX-License-Identifier: MIT
"""book - all headers, taken apart, and what their pages are called.
"""
import os
import re

import csource
from header import (Function, Header, Macro, Remark, Section, Type,
                    contract)
from manual.errors_field import Errors

ALL = "sley/sley.h"  # its page lists the others
WORDS = re.compile(r"\bSLEY_[A-Z_]+\b|\bstatic\b|\binline\b")


class Entry:
    """A function with its comment taken apart."""

    def __init__(self, function, header):
        self.name, self.header = function.name, header
        self.summary, self.text, self.fields = contract(function.comment)
        _, parameters = csource.outer_call(function.head)
        self.parameters = [re.sub(r"\s+", " ", p) for p in
                           csource.split_parameters(parameters)]
        before = function.head[:function.head.rindex(function.name + "(")]
        self.type = re.sub(r"\s+", " ", WORDS.sub("", before)).strip()
        self.errors = Errors(self.fields.get("Errors", ["none"]))

    def field(self, label):
        return " ".join(part.strip() for part in self.fields.get(label, []))


class Book:
    """All headers, and what their pages are called."""

    def __init__(self, root):
        self.headers = [Header(root, path) for path in
                        csource.files(root, "include/sley/*.h")]
        self.types = {}
        self.codes = {}
        self.groups = []  # lists of entries: a function and its twin
        for header in self.headers:
            for item in header.of(Type):
                if item.name not in self.types or "{" in item.text:
                    self.types[item.name] = (header, item)
            self.groups += group_twins(header)
            for macro in header.of(Macro):
                if macro.name == "SLEY_ERRORS":
                    self.codes = own_codes(macro.value)
        self.known = {e.name for group in self.groups for e in group}
        self.date = page_date(root)
        self.examples = [(path, *read_example(root, path)) for path in
                         csource.files(root, "examples/*.c")]

    def has_page(self, header):
        return (header.name == ALL or header.modules
                or any(e.header is header for g in self.groups for e in g)
                or any(m.comment and not m.private
                       for m in header.of(Macro)))

    def section_of(self, entry):
        """(title, items) of the section of the header that it stands in."""
        title, items = "", []
        for item in entry.header.items:
            if isinstance(item, Section):
                if entry.name in function_names(items):
                    break
                title, items = item.title, []
            else:
                items.append(item)
        return title, items

    def neighbours(self, entry):
        """The groups that stand in the same section of the header."""
        names = function_names(self.section_of(entry)[1])
        return [group for group in self.groups if group[0].name in names]


def function_names(items):
    return {item.name for item in items if isinstance(item, Function)}


def remark_lines(items):
    """What the remarks among @items say, as one comment."""
    return [line for item in items if isinstance(item, Remark)
            for line in item.lines + [""]]


def group_twins(header):
    entries = [Entry(f, header) for f in header.of(Function)
               if not f.private and f.comment]
    names = {e.name for e in entries}
    groups = {e.name: [e] for e in entries
              if e.name.removesuffix("_until") not in names
              or not e.name.endswith("_until")}
    for entry in entries:
        if entry.name not in groups:
            groups[entry.name.removesuffix("_until")].append(entry)
    return list(groups.values())


def own_codes(text):
    """{SLEY_ENAME: its text} from the list in error.h."""
    text = re.sub(r"\\\n", " ", text)
    return {name: "".join(re.findall(r'"((?:\\.|[^"\\])*)"', strings))
            for name, strings in re.findall(
                r'X\((\w+),\s*-?\d+,\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', text)}


def read_example(root, path):
    """(what it shows, its text)"""
    text = csource.read(root, path)
    match = re.search(rf"\* {os.path.basename(path)} - (.*?)\.?\n \*(?:/|\n)",
                      text, re.S)
    summary = re.sub(r"\s+\*?\s*", " ", match.group(1)) if match else ""
    return summary, text


def page_date(root):
    """The pages are of the day of the overview: builds are repeatable."""
    match = re.search(r"^\.Dd (.*)$", csource.read(root, "man/sley.7"), re.M)
    return match.group(1)


def page_name(header):
    if header.name == ALL:
        return os.path.basename(ALL)
    return header.name.replace("/", "_")
