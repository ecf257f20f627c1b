#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_man - manual pages, section 3, from the comments of the headers.

  tools/make_man.py --out build/man/man3 --version 0.1.0

One page per function, together with its twin that has a deadline, and one per
header with its types, constants and calls.  A twin and a type are found under
their own names, too, by a link.  The folder holds nothing else afterwards.

The headers stay the only reference: a page says what they say, in the order
in which one reads a manual page.  Rejected: doxygen, whose pages are lists of
fields; pages written by hand, which say what the headers said last year.
"""
import os

import csource
from manual.book import Book, page_name
from manual.function_page import FunctionPage
from manual.header_page import HeaderPage


def make_pages(root, version):
    """{file name: text} of all pages, and {file name: its page}."""
    book = Book(root)
    pages, aliases = {}, {}
    for header in book.headers:
        if book.has_page(header):
            page = HeaderPage(book, header)
            main = page_name(header)
            pages[main] = page.text(version)
            for name in page.names():
                aliases[f"{name}.3"] = f"{main}.3"
    for group in book.groups:
        page = FunctionPage(book, group)
        pages[group[0].name] = page.text(version)
        for twin in group[1:]:
            aliases[f"{twin.name}.3"] = f"{group[0].name}.3"
    return {f"{name}.3": "\n".join(text) + "\n"
            for name, text in pages.items()}, aliases


def main():
    parser = csource.root_argument(__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    pages, aliases = make_pages(args.root, args.version)
    os.makedirs(args.out, exist_ok=True)
    for name in os.listdir(args.out):
        os.remove(os.path.join(args.out, name))
    for name, text in pages.items():
        with open(os.path.join(args.out, name), "w",
                  encoding="utf-8") as file:
            file.write(text)
    for name, page in aliases.items():
        os.symlink(page, os.path.join(args.out, name))
    print(f"make_man: {len(pages)} pages, {len(aliases)} further names")
    return 0


if __name__ == "__main__":
    csource.run(main)
