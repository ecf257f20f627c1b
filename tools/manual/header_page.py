# SPDX-License-Identifier: MIT
"""header_page - the page of a header: its types, constants and calls.
"""
import re

from header import Function, Macro, Section, Type, lines_of
from manual import mdoc
from manual.book import ALL, page_name, remark_lines
from manual.parts import declaration, macro_items, page_head, see_also


class HeaderPage:
    def __init__(self, book, header):
        self.book, self.header = book, header
        self.writer = mdoc.Writer(book.known)
        self.mains = {g[0].name: g for g in book.groups}

    def sections(self):
        title, items = "", []
        for item in self.header.items:
            if isinstance(item, Section):
                yield title, items
                title, items = item.title, []
            else:
                items.append(item)
        yield title, items

    def names(self):
        """Further names of the page: types, and a module of the library."""
        types = [t.name.split()[-1] for t in self.header.of(Type)
                 if t.name.startswith("struct sley_") and not t.private
                 and t.name.split()[-1] not in self.book.known
                 and ("{" in t.text or self.book.types[t.name][1] is t)]
        return self.header.modules + types

    def type_items(self, types):
        out = []
        for kind in types:
            if self.book.types[kind.name][1] is not kind or kind.private:
                continue
            text = self.writer.lines(lines_of(kind.comment))
            name = kind.name
            if kind.text.startswith("typedef"):
                name = re.sub(r"\s+", " ", kind.text)
            elif kind.public:
                text += declaration(kind, self.writer)
            if text or name != kind.name:
                out += [f'.It Vt "{name}"'] + text
        return [".Bl -tag -width 4n"] + out + [".El"] if out else []

    def function_items(self, functions):
        out = []
        for function in functions:
            group = self.mains.get(function.name)
            if not group:
                continue
            out.append(".It " + " , ".join(f"Xr {e.name} 3" for e in group))
            out += self.writer.text(group[0].summary)
        return [".Bl -tag -width 4n -compact"] + out + [".El"] if out else []

    def description(self):
        out = [".Sh DESCRIPTION"] + (self.writer.lines(self.header.text)
                                     or [mdoc.sentence(self.header.summary)])
        for title, items in self.sections():
            types = self.type_items(
                [i for i in items if isinstance(i, Type)])
            macros = macro_items(
                [i for i in items if isinstance(i, Macro) and not i.private
                 and i.name != "SLEY_ERRORS"], self.writer)
            calls = self.function_items(
                [i for i in items if isinstance(i, Function)])
            if title:
                remarks = self.writer.lines(remark_lines(items))
                out += [f".Ss {mdoc.title(title)}"]
                out += remarks + types + macros
                out += ([".Pp"] if calls and (remarks or types or macros)
                        else []) + calls
            else:
                for name, part in (("Types", types),
                                   ("Constants and macros", macros),
                                   ("Functions", calls)):
                    out += [f".Ss {name}"] + part if part else []
        return out + self.codes() + self.headers()

    def headers(self):
        """sley.h has all the headers, each with its calls."""
        if self.header.name != ALL:
            return []
        out = []
        for header in self.book.headers:
            if not self.book.has_page(header) or header is self.header:
                continue
            out += [f".Ss {header.name}"]
            out += self.writer.text(mdoc.sentence(header.summary))
            out += ["See", f".Xr {page_name(header)} 3 ."]
            calls = self.function_items(header.of(Function))
            out += [".Pp"] + calls if calls else []
        return out

    def codes(self):
        """error.h has the list of our own codes."""
        if not any(m.name == "SLEY_ERRORS" for m in self.header.of(Macro)):
            return []
        out = [".Ss Codes of the library", ".Bl -tag -width 4n"]
        for code, text in self.book.codes.items():
            out += [f".It Dv {code}"] + self.writer.text(mdoc.sentence(text))
        return out + [".El"]

    def text(self, version):
        names = [self.header.name] + self.names()
        pages = {page_name(h) for h in self.book.headers
                 if self.book.has_page(h)} - {page_name(self.header)}
        return page_head(self.book, version, page_name(self.header), names,
                         self.header.summary) \
            + [".Sh SYNOPSIS", f".In {self.header.name}"] \
            + self.description() + see_also(pages, [])
