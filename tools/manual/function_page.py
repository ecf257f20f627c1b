# SPDX-License-Identifier: MIT
"""function_page - the page of a function and its twin.
"""
import errno
import os
import re

from header import lines_of
from manual import mdoc
from manual.book import page_name, remark_lines
from manual.parts import (declaration, macro_items, macros_for, page_head,
                          prototype, see_also)

OWN_LABELS = (("Owner", "OWNERSHIP"), ("Order", "MEMORY ORDER"))


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

    def deadline(self, entry):
        if not any("deadline_ns" in p for p in entry.parameters):
            return []
        return self.writer.text("@deadline_ns is an absolute time of the "
                                "clock that sley_now() reads.")

    def twin_text(self, entry):
        summary = entry.summary
        text = f"{entry.name}(): {summary}"
        if re.match(rf"(like )?{self.entry.name}\(\)", summary):
            text = f"{entry.name}() is {summary}"
        out = [".Pp"] + self.writer.text(mdoc.sentence(text))
        out += self.deadline(entry)
        body = self.writer.lines(self.prose(entry))
        return out + ([".Pp"] + body if body else [])

    def prose(self, entry):
        """The text without the sentences that are about the result."""
        if not entry.errors.entries:
            return entry.text
        return split_returns(entry.text)[0].split("\n")

    def description(self):
        out = [".Sh DESCRIPTION"]
        out += self.writer.text(mdoc.sentence(self.entry.summary))
        out += self.deadline(self.entry)
        body = self.writer.lines(self.prose(self.entry))
        out += [".Pp"] + body if body else []
        for entry in self.group[1:]:
            out += self.twin_text(entry)
        for header, kind in self.types():
            out += self.type_section(header, kind)
        return out

    def notes(self):
        """What the header says of the calls of a section, and of all."""
        header = self.entry.header
        title, items = self.book.section_of(self.entry)
        out = []
        for heading, lines in ((title, remark_lines(items)),
                               (header.summary, header.text)):
            body = self.writer.lines(lines)
            out += [f".Ss {mdoc.title(heading)}"] + body if body else []
        return [".Sh NOTES"] + out if out else []

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
        texts = self.resolved(texts)
        if len({text for _, text in texts}) == 1 and texts[0][0] is self.entry:
            return self.writer.text(mdoc.sentence(texts[0][1]))
        out = [".Bl -tag -width 4n"]
        for entry, text in texts:
            out += [f".It Fn {entry.name}"]
            out += self.writer.text(mdoc.sentence(text))
        return out + [".El"]

    def resolved(self, texts):
        """With "as base()" replaced by what is said of base()."""
        said = {f"as {entry.name}()": text for entry, text in texts}
        return [(entry, said.get(text.rstrip("."), text))
                for entry, text in texts]

    def context(self):
        out = [".Sh CALLING CONTEXT"]
        rows = []
        for label, title in (("Context", "Called by"), ("Blocks", "Blocks")):
            texts = self.resolved([(e, e.field(label)) for e in self.group])
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
            if any(reference == f"{self.entry.name}()"
                   for reference in entry.errors.references):
                for code, _ in self.entry.errors.entries:
                    owners[code].append(entry)
        out = [".Bl -tag -width 4n"]
        for code, text in texts.items():
            macro = "Er" if code[:2] == "-E" else "Li" \
                if code[-1].isdigit() else "Dv"
            out.append(f".It {macro} {mdoc.escape(code)}")
            out += self.writer.text(mdoc.sentence(
                text or meaning(self.book, code)))
            if len(owners[code]) < len(entries) and code != "-ETIMEDOUT":
                out += ["Only", f".Fn {owners[code][0].name} ."]
        return out + [".El"]

    def errors(self):
        entries = [e for e in self.group if not e.errors.is_value]
        out = []
        if any(e.errors.entries for e in entries):
            out += self.code_list([e for e in entries if e.errors.entries])
        speakers = [e for e in entries if e.errors.entries]
        named = any(e.errors.notes != speakers[0].errors.notes
                    and self.entry.name + "()" not in e.errors.references
                    for e in speakers)
        tail = []
        for entry in entries:
            for reference in entry.errors.references:
                if reference == f"{self.entry.name}()" and out:
                    continue
                tail.append(f"{entry.name}() fails as {reference} does"
                            + (", too." if out else "."))
            for note in entry.errors.notes:
                tail.append(mdoc.sentence(f"{entry.name}(): {note}"
                                          if named else note))
            note = entry.errors.misuse or (entry.type == "void"
                                           and entry.errors.value)
            if note:
                tail.append(mdoc.sentence("There are none; " + note))
        tail = list(dict.fromkeys(tail))
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
                 self.book.neighbours(self.entry)} - {self.entry.name}
        return see_also(names, [page_name(self.entry.header)])

    def text(self, version):
        names = [e.name for e in self.group]
        return page_head(self.book, version, self.entry.name, names,
                         self.entry.summary) + self.synopsis() \
            + self.description() + self.context() + self.returns() \
            + self.examples() + self.errors() + self.notes() \
            + self.see_also()


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
    if entry.type == "void":
        return ""
    if errors.value:
        return errors.value
    if errors.is_value:
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
    number = getattr(errno, code[1:], None)
    return os.strerror(number) if number else code
