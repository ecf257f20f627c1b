# SPDX-License-Identifier: MIT
"""parts - what the pages of functions and of headers have in common.
"""
import re

from header import Macro, Type, lines_of
from manual import mdoc


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
        macro = "Dv" if kind.name.startswith("enum") else "Vt"
        out += [f'.It {macro} "{field}"']
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
        text = text.removeprefix(f"{macro.name}{words} - ")
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
    longer = [s for t in header.of(Type)
              if (s := t.name.split()[-1].upper()).startswith(stem + "_")]
    return [m for m in header.of(Macro) if not m.private
            and re.match(stem + r"(_|$)", m.name)
            # SLEY_A_B_INIT is of sley_a_b unless its comment says what it is.
            and (m.comment or not any(m.name.startswith(s + "_")
                                      for s in longer))
            and (m.name == stem or m.name.endswith("_INIT")
                 or m.name in text)]


def see_also(names, more):
    every = [(name, 3) for name in sorted(set(names) | set(more))]
    every += [("sley", 7)]
    return [".Sh SEE ALSO"] + [
        f".Xr {name} {section}" + (" ," if (name, section) != every[-1]
                                   else "") for name, section in every]
