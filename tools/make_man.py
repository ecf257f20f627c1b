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
import re

import csource
import mdoc
from errors_field import Errors
from header import Function, Header, Macro, Section, Type, contract, lines_of

OWN_LABELS = (("Owner", "OWNERSHIP"), ("Order", "MEMORY ORDER"))
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
        return (header.name == ALL
                or any(e.header is header for g in self.groups for e in g)
                or any(m.comment and not m.private
                       for m in header.of(Macro)))

    def section_of(self, entry):
        """The groups that stand in the same section of the header."""
        names, found = [], []
        for item in entry.header.items:
            if isinstance(item, Section):
                if entry.name in names:
                    break
                names = []
            elif isinstance(item, Function):
                names.append(item.name)
        for group in self.groups:
            if group[0].name in names:
                found.append(group)
        return found


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


def page_head(book, version, title, names, summary):
    out = ['.\\" SPDX-License-Identifier: MIT',
           '.\\" Made by tools/make_man.py from the headers.',
           f".Dd {book.date}", f".Dt {title.upper()} 3", f".Os sley {version}",
           ".Sh NAME"]
    out += [f".Nm {name}" + (" ," if name != names[-1] else "")
            for name in names]
    out += [f".Nd {mdoc.strip(summary)}", ".Sh LIBRARY",
            "One scheduler for tasks, fibers and channels",
            ".Pq libsley , Fl lsley"]
    return out


def literal(text):
    return [".Bd -literal -offset indent"] + [
        mdoc.line(mdoc.escape(part)) for part in text.split("\n")] + [".Ed"]


def declaration(kind, writer):
    """The fields of a struct as a list, or the text as it is."""
    fields = kind.fields()
    if not fields:
        return literal(kind.text)
    out = [".Bl -tag -width 4n"]
    for field, comment in fields:
        if re.search(r"\breserved\b", field):
            continue
        out += [f'.It Vt "{field}"']
        out += writer.text(mdoc.sentence(comment)) if comment else []
    return out + [".El"]


def prototype(entry):
    out = [f".Ft {entry.type}", f".Fo {entry.name}"]
    out += [f'.Fa "{p}"' for p in entry.parameters or ["void"]]
    return out + [".Fc"]


def usual_macro(macro):
    """What to say of a macro whose name says it all."""
    if re.search(r"&\(const struct \w+\)", macro.value):
        return ("A pointer to a constant one with the given fields, the "
                "others default.  In C only")
    return "Initialises one" if macro.name.endswith("_INIT") else ""


def macro_items(macros, writer):
    out = []
    for macro in macros:
        words = re.sub(r"\s+", " ", macro.parameters)
        out.append(f".It Dv {macro.name}{words}")
        text = " ".join(lines_of(macro.comment)) or usual_macro(macro)
        number = re.fullmatch(r"\(?(-?\d+)[uUlL]*\)?", macro.value)
        if text:
            out += [f"{mdoc.escape(number.group(1))}:"] if number else []
            out += writer.text(mdoc.sentence(text) if not number
                               else text.rstrip(".") + ".")
        elif macro.value and "\n" not in macro.value and not words:
            out.append(".Li " + mdoc.escape(macro.value).replace('"', "\\(dq"))
    return [".Bl -tag -width 4n"] + out + [".El"] if out else []


def macros_for(header, kind, text):
    """The macros that set up a type, and those that @text speaks of."""
    stem = kind.name.split()[-1].upper()
    return [m for m in header.of(Macro) if not m.private
            and re.match(stem + r"(_|$)", m.name)
            and (m.name == stem or m.name.endswith("_INIT")
                 or m.name in text)]


class FunctionPage:
    def __init__(self, book, group):
        self.book, self.group = book, group
        self.entry = group[0]
        self.writer = mdoc.Writer(book.known, [e.name for e in group])

    def types(self):
        """(header, type) the prototypes speak of and a reader wants to see."""
        found = []
        for entry in self.group:
            for text in entry.parameters + [entry.type]:
                name = re.search(r"struct \w+|\bsley_\w+(?= )", text)
                known = name and self.book.types.get(name.group())
                if known and known not in found:
                    found.append(known)
        return [(header, kind) for header, kind in found
                if kind.public or header is self.entry.header
                or not kind.name.startswith("struct")]

    def synopsis(self):
        out = [".Sh SYNOPSIS", f".In {self.entry.header.name}"]
        for _, kind in self.types():
            if kind.text.startswith("typedef"):
                text = re.sub(r"\s+", " ", kind.text).rstrip(";")
                out += [f".Vt {text} ;"]
        for entry in self.group:
            out += prototype(entry)
        return out

    def twin_text(self, entry):
        summary = entry.summary
        text = f"{entry.name}(): {summary}"
        if re.match(rf"(like )?{self.entry.name}\(\)", summary):
            text = f"{entry.name}() is {summary}"
        out = [".Pp"] + self.writer.text(mdoc.sentence(text))
        if any("deadline_ns" in p for p in entry.parameters):
            out += self.writer.text("@deadline_ns is an absolute time of the "
                                    "clock that sley_now() reads.")
        body = self.writer.lines(self.prose(entry))
        return out + ([".Pp"] + body if body else [])

    def prose(self, entry):
        """The text without the sentences that are about the result."""
        if not entry.errors.entries:
            return entry.text
        return [part for part in split_returns(entry.text)[0].split("\n")]

    def description(self):
        out = [".Sh DESCRIPTION"]
        out += self.writer.text(mdoc.sentence(self.entry.summary))
        if any("deadline_ns" in p for p in self.entry.parameters):
            out += self.writer.text("@deadline_ns is an absolute time of the "
                                    "clock that sley_now() reads.")
        body = self.writer.lines(self.prose(self.entry))
        out += [".Pp"] + body if body else []
        for entry in self.group[1:]:
            out += self.twin_text(entry)
        for header, kind in self.types():
            out += self.type_section(header, kind)
        return out

    def notes(self):
        """What the header says of all its calls."""
        header = self.entry.header
        body = self.writer.lines(header.text)
        if not body:
            return []
        title = header.summary[0].upper() + header.summary[1:]
        return [".Sh NOTES", f".Ss {mdoc.strip(title)}"] + body

    def type_section(self, header, kind):
        body = self.writer.lines(lines_of(kind.comment))
        said = "\n".join(line for entry in self.group
                         for part in [entry.text, entry.header.text,
                                      *entry.fields.values()]
                         for line in part)
        macros = macros_for(header, kind, said)
        if kind.public:
            body += declaration(kind, self.writer)
        if not body or kind.text.startswith("typedef"):
            return []
        return [f".Ss {kind.name}"] + body + macro_items(macros, self.writer)

    def per_function(self, texts):
        """Sentences, named by function where they differ."""
        if len({text for _, text in texts}) == 1 and texts[0][0] is self.entry:
            return self.writer.text(mdoc.sentence(texts[0][1]))
        out = [".Bl -tag -width 4n"]
        for entry, text in texts:
            out += [f".It Fn {entry.name}"]
            out += self.writer.text(mdoc.sentence(text))
        return out + [".El"]

    def context(self):
        out = [".Sh CALLING CONTEXT"]
        rows = []
        for label, title in (("Context", "Called by"), ("Blocks", "Blocks")):
            texts = [(e, e.field(label)) for e in self.group]
            rows.append(f".It {title}")
            if len({text for _, text in texts}) == 1:
                rows += self.writer.text(texts[0][1])
                continue
            for entry, text in texts:
                rows += self.writer.text(mdoc.sentence(
                    f"{entry.name}(): {text}"))
        out += ['.Bl -tag -width "Called by" -compact'] + rows + [".El"]
        for label, title in OWN_LABELS:
            texts = [(e, e.field(label)) for e in self.group
                     if e.field(label)]
            if texts:
                out += [f".Sh {title}"] + self.per_function(texts)
        return out

    def returns(self):
        texts = [(e, text) for e in self.group
                 if (text := return_text(e, self.entry))]
        out = self.per_function(texts) if texts else []
        for entry in self.group:
            if entry.errors.is_value:
                out += self.code_list([entry])
        return [".Sh RETURN VALUES"] + out if out else []

    def code_list(self, entries):
        """The union of the codes, each with the best text there is."""
        texts, owners = {}, {}
        for entry in entries:
            for code, text in entry.errors.entries:
                texts[code] = texts.get(code) or text
                owners.setdefault(code, []).append(entry)
        out = [".Bl -tag -width 4n"]
        for code, text in texts.items():
            macro = "Er" if code[:2] == "-E" else "Li" \
                if code[-1].isdigit() else "Dv"
            out.append(f".It {macro} {mdoc.escape(code)}")
            out += self.writer.text(mdoc.sentence(
                text or meaning(self.book, code)))
            if len(owners[code]) < len(entries) and code != "-ETIMEDOUT":
                out += [f".Pq Fn {owners[code][0].name} only."]
        return out + [".El"]

    def errors(self):
        entries = [e for e in self.group if not e.errors.is_value]
        out = []
        if any(e.errors.entries for e in entries):
            out += self.code_list([e for e in entries if e.errors.entries])
        tail = []
        for entry in entries:
            named = sum(bool(e.errors.entries) for e in entries) > 1
            for reference in entry.errors.references:
                tail.append(f"{entry.name}() fails as {reference} does"
                            + (", too." if out else "."))
            for note in entry.errors.notes:
                tail.append(mdoc.sentence(f"{entry.name}(): {note}"
                                          if named else note))
            if entry.errors.misuse:
                tail.append(mdoc.sentence("There are none; "
                                          + entry.errors.misuse))
        for text in tail:
            out += ([".Pp"] if out else []) + self.writer.text(text)
        return [".Sh ERRORS"] + out if out else []

    def examples(self):
        names = "|".join(e.name for e in self.group)
        found = [(path, summary) for path, summary, text
                 in self.book.examples if re.search(rf"\b({names})\(", text)]
        if not found:
            return []
        out = [".Sh EXAMPLES", "These programs come with the library, in",
               ".Pa share/doc/sley/examples :",
               ".Bl -tag -width 4n -compact"]
        for path, summary in found[:3]:
            out += [f".It Pa {os.path.basename(path)}"]
            out += self.writer.text(summary)
        return out + [".El"]

    def see_also(self):
        names = {group[0].name for group in
                 self.book.section_of(self.entry)} - {self.entry.name}
        return see_also(names, [header_page(self.entry.header)])

    def text(self, version):
        names = [e.name for e in self.group]
        return page_head(self.book, version, self.entry.name, names,
                         self.entry.summary) + self.synopsis() \
            + self.description() + self.context() + self.returns() \
            + self.examples() + self.errors() + self.notes() \
            + self.see_also()


def see_also(names, more):
    every = [(name, 3) for name in sorted(set(names) | set(more))]
    every += [("sley", 7)]
    return [".Sh SEE ALSO"] + [
        f".Xr {name} {section}" + (" ," if (name, section) != every[-1]
                                   else "") for name, section in every]


def split_returns(lines):
    """(text without, the sentences that say what is returned)."""
    text = "\n".join(lines)
    pattern = re.compile(r"(?:(?<=\A)|(?<=\n)|(?<=  ))Returns (?!when|after|"
                         r"only|at |as soon|once|before)[^\0]*?"
                         r"\.(?:  |\n|\Z)")
    found = [re.sub(r"\s+", " ", m).strip() for m in pattern.findall(text)]
    return pattern.sub("", text).rstrip("\n"), " ".join(found)


def return_text(entry, base):
    """What RETURN VALUES says of a function, or an empty string."""
    errors = entry.errors
    if errors.value:
        return errors.value
    if entry.type == "void" or errors.is_value:
        return ""
    if not errors.entries and not errors.references:
        match = re.search(r"; (true if .*)$", entry.summary)
        return match.group(1) if match else ""
    said = split_returns(entry.text)[1] or split_returns(base.text)[1]
    if said:
        return said + "  On failure the value is negative; see ERRORS."
    if re.search(r"\b(how many|count|number|index)\b", entry.summary) \
            or re.search(r"\b[Rr]eturns (the|how|a)\b",
                         " ".join(entry.text)):
        return "A negative value tells of failure; see ERRORS."
    return "0 on success; on failure a negative value, see ERRORS."


def meaning(book, code):
    """The text for a code that the header only names."""
    usual = {"-ECANCELED": "The calling task was cancelled.",
             "-ETIMEDOUT": "The deadline passed first.",
             "-ENOMEM": "There is not enough memory."}
    if code in usual:
        return usual[code]
    if code in book.codes:
        return book.codes[code]
    import errno
    number = getattr(errno, code[1:], None)
    return os.strerror(number) if number else code


def header_page(header):
    if header.name == ALL:
        return os.path.basename(ALL)
    return header.name.replace("/", "_")


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
        return [t.name.split()[-1] for t in self.header.of(Type)
                if t.name.startswith("struct sley_")
                and t.name.split()[-1] not in self.book.known
                and ("{" in t.text or self.book.types[t.name][1] is t)]

    def type_items(self, types):
        out = []
        for kind in types:
            if self.book.types[kind.name][1] is not kind:
                continue
            text = self.writer.lines(lines_of(kind.comment))
            if kind.text.startswith("typedef"):
                text = literal(kind.text) + text
            elif kind.public:
                text += declaration(kind, self.writer)
            if text:
                out += [f".It Vt {kind.name}"] + text
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
                out += [f".Ss {title[0].upper()}{title[1:]}"]
                out += types + macros
                out += ([".Pp"] if calls and (types or macros) else []) + calls
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
            out += ["See", f".Xr {header_page(header)} 3 ."]
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
        pages = {header_page(h) for h in self.book.headers
                 if self.book.has_page(h)} - {header_page(self.header)}
        return page_head(self.book, version, header_page(self.header), names,
                         self.header.summary) \
            + [".Sh SYNOPSIS", f".In {self.header.name}"] \
            + self.description() + see_also(pages, [])


def make_pages(root, version):
    """{file name: text} of all pages, and {file name: its page}."""
    book = Book(root)
    pages, aliases = {}, {}
    for header in book.headers:
        if book.has_page(header):
            page = HeaderPage(book, header)
            main = header_page(header)
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
