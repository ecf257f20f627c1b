#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_docs - nothing in the documents escapes the tests.

- A fenced block that looks like C says that it is.
- A block of C or C++ is a program (it has a main), or a comment above it says
  what else it is: <!-- test: ... -->, see docs/HACKING.md, "Documents".
- A comment of that kind stands above such a block, nowhere else.
- Every relative link leads to a file of the tree, and to a heading of it.

run_docs.py compiles and runs them.
"""
import os
import re

import csource
import mdsource


def check_block(block, report):
    def complain(text):
        report.add(block.path, block.line - 1, text)

    if not block.info and re.search(r"^\s*#include\b|;[ \t]*$", block.text,
                                    re.M):
        complain("this looks like C, but the fence names no language")
    if not block.language:
        return
    if block.mark is None:
        if not block.has_main:
            complain("this block has no main(), and no <!-- test: ... --> "
                     "above says what it is")
        return
    try:
        mark = mdsource.parse_mark(block.mark)
    except mdsource.MarkError as error:
        complain(f"the comment above: {error}")
        return
    if mark.kind == "program" and not block.has_main:
        complain("this program has no main()")


def check_parts(blocks, report):
    """The parts of one program have one main() between them."""
    parts = {}
    for block in blocks:
        try:
            mark = mdsource.parse_mark(block.mark or "")
        except mdsource.MarkError:
            continue
        if block.language and mark.kind == "part":
            parts.setdefault(mark.name, []).append(block)
    for name, members in parts.items():
        if sum(block.has_main for block in members) != 1:
            report.add(members[0].path, members[0].line - 1,
                       f"the parts '{name}' have no main(), or several")


def check_marks(path, text, blocks, report):
    wanted = len(re.findall(r"<!--\s*test:", mdsource.prose(text)))
    above = sum(1 for b in blocks if b.language and b.mark is not None)
    if wanted != above:
        report.add(path, 1, f"{wanted} comments <!-- test: ... -->, but "
                            f"{above} stand above a block of C or C++")


def check_links(root, path, text, report):
    for line, target in mdsource.links(text):
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.I):
            continue
        name, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(path), name)) \
            if name else path
        if full.startswith("..") or not os.path.exists(
                os.path.join(root, full)):
            report.add(path, line, f"{target} leads nowhere")
        elif anchor and full.endswith(".md") and anchor not in \
                mdsource.anchors(csource.read(root, full)):
            report.add(path, line, f"{full} has no heading #{anchor}")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_docs")
    paths = csource.files(root, "*.md")
    for path in paths:
        text = csource.read(root, path)
        blocks = list(mdsource.blocks(path, text))
        for block in blocks:
            check_block(block, report)
        check_parts(blocks, report)
        check_marks(path, text, blocks, report)
        check_links(root, path, text, report)
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
