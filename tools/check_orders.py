#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_orders - every memory order has a reason, every edge a name of its own
and two ends.

A file with ordered operations declares its edges in its opening comment, one
per line, two spaces after the name:

     D1  push stores bottom  ->  steal loads bottom : the slot is written

An ordered operation names its edge in a comment on its own lines or directly
above.  A relaxed one says "relaxed: why" there or up to four lines above.  A
.h and a .c of the same name share their edges.  An edge that belongs to
another file is declared as "D1  see lf/deque.h" and counted there.

The letters of a name belong to one such pair of files, so that a name means one
edge.  A comment that speaks of an edge of other files, without naming one end of
it, says "D1 of lf/deque.h", or "D1 and D2 of deque.h".

An edge needs an operation that releases and one that acquires; one acq_rel
operation may be both ends, when the edge runs from one caller of it to the
next.  A compiler_barrier(), an os_membarrier() or a relaxed operation that
names an edge is an end of either kind: that is how asymmetric barriers look.
"""
import re

import csource

OPERATION = re.compile(
    r"\b(load|store|xchg|cas|add|sub|or|and)_"
    r"(relaxed|acquire|release|acq_rel_acquire|acq_rel|seq_cst)\s*\("
    r"|\b(compiler_barrier|os_membarrier)\s*\(")
DECLARED = re.compile(r"^[ \t]*\*[ \t]+([A-Z]{1,2}[0-9]+)  +(\S[^\n]*)", re.M)
NAME = re.compile(r"\b[A-Z]{1,2}[0-9]+\b")
SEE = re.compile(r"see ((?:[a-z_0-9]+/)+[a-z_0-9]+)\.[hc]\b")
ELSEWHERE = re.compile(
    r"\b((?:(?:[A-Z]{1,2}[0-9]+,\s+)*[A-Z]{1,2}[0-9]+\s+(?:and|or)\s+)?"
    r"[A-Z]{1,2}[0-9]+)"
    r"\s+of\s+((?:\w+/)*\w+)\.[hc]\b")
EXEMPT = ("src/base/atomic.h",)


def stem(path):
    return path[len("src/"):].rsplit(".", 1)[0]


def opening_comment(text):
    """The block comment that follows the SPDX line."""
    match = re.match(r"\s*/\*\s*SPDX[^\n]*\*/\s*(/\*.*?\*/)", text, re.S)
    return match.group(1) if match else ""


class Source:
    def __init__(self, root, path):
        text = csource.read(root, path)
        self.path = path
        self.code = csource.blank(text)
        self.code_lines = self.code.split("\n")
        self.comment_lines = csource.comments(text).split("\n")
        opening = opening_comment(text)
        first = csource.line_of(text, text.find(opening)) if opening else 1
        self.declared = {}
        for match in DECLARED.finditer(opening):
            line = first + opening.count("\n", 0, match.start())
            self.declared[match.group(1)] = (line, match.group(2))

    def mentions(self):
        """(line, edge, file or None) of all names in the comments."""
        text = "\n".join(self.comment_lines)
        # Lines of one comment follow each other, with their offsets.
        text = re.sub(r"(?m)^[ \t]*\*(?!/)", lambda m: " " * len(m.group()),
                      text)
        elsewhere = list(ELSEWHERE.finditer(text))
        for match in NAME.finditer(text):
            target = next((m.group(2) for m in elsewhere
                           if m.start(1) <= match.start() < m.end(1)), None)
            yield csource.line_of(text, match.start()), match.group(), target

    def statement_lines(self, offset):
        """First and last line (from 0) of the statement around offset."""
        first = self.code.count("\n", 0, offset)
        # Up to the line that begins the statement: a line belongs to the one
        # above if that one does not end a statement.
        start = first
        while start > 0 and first - start < 6:
            above = self.code_lines[start - 1].strip().rstrip("\\").rstrip()
            if not above or above[-1] in ";{}:" or above.startswith("#"):
                break
            if re.match(r"(if|while|for|switch|else)\b.*[)e]$", above):
                break
            start -= 1
        end = first
        while end + 1 < len(self.code_lines) and end - first < 6:
            line = self.code_lines[end].strip().rstrip("\\").rstrip()
            if line and line[-1] in ";{}":
                break
            if re.match(r"(if|while|for|switch)\b.*\)$", line):
                break
            end += 1
        return start, end

    def comment_at(self, start, end):
        """Comments on lines start..end and directly above."""
        lines = self.comment_lines[start:end + 1]
        above = start - 1
        while (above >= 0 and self.comment_lines[above].strip()
               and not self.code_lines[above].strip()):
            lines.insert(0, self.comment_lines[above])
            above -= 1
        return "\n".join(lines)


def ends(order):
    if order in ("acq_rel", "acq_rel_acquire", "seq_cst", "any"):
        return {"releases", "acquires"}
    return {"releases"} if order == "release" else {"acquires"}


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_orders")
    sources = [Source(root, path)
               for path in csource.files(root, "src/*.c", "src/*.h")
               if path not in EXEMPT]
    # (stem, edge) -> path, line of its declaration; aliases lead there.
    declared, alias, uses = {}, {}, {}
    for source in sources:
        for edge, (line, text) in source.declared.items():
            key = (stem(source.path), edge)
            see = SEE.match(text)
            if see:
                alias[key] = ((see.group(1), edge), source.path, line)
            elif text.startswith("see "):
                report.add(source.path, line,
                           f"edge {edge}: say 'see' and a path from src/")
            elif key in declared:
                report.add(source.path, line,
                           f"edge {edge} is in {declared[key][0]}, too")
            else:
                declared[key] = (source.path, line)
    check_names(declared, report)
    for source in sources:
        check_source(source, declared, alias, uses, report)
        check_mentions(source, declared, alias, report)
    for (target, path, line) in alias.values():
        if target not in declared:
            report.add(path, line, f"{target[0]}.h declares no {target[1]}")
    for key, (path, line) in sorted(declared.items()):
        have = set().union(*(e for e in uses.get(key, [])))
        lonely = len(uses.get(key, [])) == 1 and have != ends("any")
        missing = ends("any") - have
        if missing or lonely:
            report.add(path, line, f"edge {key[1]} has one end: nothing that "
                                   f"{' or '.join(sorted(missing))} names it")
    return report.finish(len(sources))


def check_names(declared, report):
    """The letters of a name say whose edge it is."""
    owners = {}
    for (own, edge), (path, line) in sorted(declared.items(),
                                            key=lambda item: item[1]):
        letters = edge.rstrip("0123456789")
        owner = owners.setdefault(letters, (own, path))
        if owner[0] != own:
            report.add(path, line, f"edge {edge}: the letters {letters} "
                                   f"belong to the edges of {owner[1]}")


def check_mentions(source, declared, alias, report):
    """What a comment calls by the name of an edge is an edge, and which."""
    own = stem(source.path)
    edges = {}
    for (where, edge) in declared:
        edges.setdefault(edge, []).append(where)
    for line, edge, target in source.mentions():
        if target:
            if not any(where == target or where.endswith("/" + target)
                       for where in edges.get(edge, ())):
                report.add(source.path, line, f"{target} declares no {edge}")
        elif (edge in edges and (own, edge) not in declared
              and (own, edge) not in alias):
            report.add(source.path, line,
                       f"{edge} is an edge of {edges[edge][0]}: say '{edge} "
                       f"of {edges[edge][0]}.h', or declare that you see it")


def check_source(source, declared, alias, uses, report):
    own = stem(source.path)
    for match in OPERATION.finditer(source.code):
        order = match.group(2) or "barrier"
        start, end = source.statement_lines(match.start())
        line = csource.line_of(source.code, match.start())
        comment = source.comment_at(start, end)
        named = []
        for name in NAME.findall(comment):
            key = (own, name)
            key = alias[key][0] if key in alias else key
            if key in declared:
                named.append(key)
            elif not any(edge == name for _, edge in declared):
                report.add(source.path, line, f"nothing declares {name}")
        kind = "any" if order in ("relaxed", "barrier") else order
        for key in set(named):
            uses.setdefault(key, []).append(ends(kind))
        call = match.group().rstrip("( \t")
        if order == "relaxed":
            near = source.comment_lines[max(0, start - 4):start]
            if "relaxed:" not in "\n".join(near) + comment:
                report.add(source.path, line,
                           f"{call}() does not say 'relaxed: why'")
        elif order != "barrier" and not named:
            report.add(source.path, line,
                       f"{call}() names no edge that the opening comment "
                       f"declares")


if __name__ == "__main__":
    csource.run(main)
