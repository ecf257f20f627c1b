# SPDX-License-Identifier: MIT
"""header - reading the public headers, for check_api.py and make_man.py.

A header is its opening comment and then, in the order of the file, sections
(the lines of dashes), types, macros and functions, each with the comment that
stands directly above it, and remarks: comments that stand alone.
"""
import os
import re

import csource

# A half of an inline function: its contract is that of the function.
PRIVATE = re.compile(r"_(slow|fast)$")

PRIVATE_WORD = re.compile(r"\bprivate\b", re.I)
# "Private: ...", or "sley_x - private: ...": it is there for the other ones.
PRIVATE_FIRST = re.compile(r"/\*\s*(?:\* )?(?:\w+ - )?private:", re.I)
COMMENT_ABOVE = re.compile(r"(?:\A|(?<=\n))/\*(?:(?!\*/).)*\*/\n\Z", re.S)
SECTION = re.compile(r"^/\* -{4} (.*?) -+ \*/$", re.M)
REMARK = re.compile(r"(?<=\n\n)/\*\n(?: \*.*\n)+? \*/\n(?=\n)")
LABEL = re.compile(r"^(Context|Blocks|Owner|Order|Errors):([ \t]+)(\S.*)$")


class Function:
    def __init__(self, path, line, name, words, head, comment):
        self.path, self.line, self.name = path, line, name
        self.words, self.head, self.comment = words, head, comment
        self.exported = "SLEY_EXPORT" in words
        self.private = bool(PRIVATE.search(name)
                            or PRIVATE_FIRST.match(comment))


class Type:
    """A struct (with its body, or opaque), an enum or a typedef."""

    def __init__(self, name, comment, text):
        self.name, self.comment, self.text = name, comment, text
        self.private = bool(PRIVATE_FIRST.match(comment))
        # The caller may look inside.
        self.public = "{" in text and "struct sley_waitq" not in text \
            and not PRIVATE_WORD.search(comment + text)


    def fields(self):
        """[(field or enumerator, comment)], or None if it is not so simple.

        A comment stands beside what it explains, or on lines of its own
        before it.
        """
        body = self.text[self.text.index("{") + 1:self.text.rindex("}")]
        mark = "," if self.name.startswith("enum") else ";"
        bare = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        if mark == "," and not bare.rstrip().endswith(","):
            body = re.sub(r"(\w)(\s*(?:/\*[^*]*\*/\s*)?)\Z", r"\1,\2", body)
        found, pending = [], ""
        for match in re.finditer(rf"\s*(?:/\*(.*?)\*/|((?:[^{mark}/]|/(?!\*))+)"
                                 rf"{mark}(?:[ \t]*/\*(.*?)\*/)?)",
                                 body, re.S):
            note, declaration, beside = match.groups()
            if note is not None:
                pending = note
            else:
                found.append((re.sub(r"\s+", " ", declaration.strip()),
                              clean(beside or pending)))
                pending = ""
        bare = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        return found if bare.count(mark) == len(found) else None


class Macro:
    def __init__(self, name, parameters, value, comment, private):
        self.name, self.parameters = name, parameters
        self.value, self.comment = value, comment
        self.private = private or bool(PRIVATE_WORD.search(comment))


class Section:
    def __init__(self, title):
        self.title = title


class Remark:
    """A comment about what follows it, up to the next section."""

    def __init__(self, comment):
        self.lines = lines_of(comment)


def lines_of(comment):
    """The lines of a comment, without what makes it one."""
    inner = re.sub(r"^/\*[ \t]?|[ \t]*\*/\s*$", "", comment.strip())
    lines = [re.sub(r"^ \* ?", "", line).rstrip()
             for line in inner.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def clean(comment):
    """The text of a comment, line by line, without what makes it one."""
    return re.sub(r"[ \t]*\n[ \t]*\*?[ \t]*", "\n", comment).strip()


def above(text, offset):
    match = COMMENT_ABOVE.search(text[:offset])
    if not match or SECTION.match(match.group().strip()):
        return ""
    return match.group()


def header_statements(text):
    """(offset of the first word, head, body) of each top-level statement."""
    code = csource.blank_directives(csource.blank(text))
    # The macros around declarations end nothing by themselves.
    code = re.sub(r"\bSLEY_(BEGIN|END)_DECLS\b",
                  lambda m: csource.spaces(m.group()), code)
    for offset, head, body in csource.statements(code):
        yield offset + len(head) - len(head.lstrip()), head, body


def is_function(head, body):
    if re.search(r"\btypedef\b", head) or "(" not in head:
        return False
    name, _ = csource.outer_call(head)
    return bool(name) and not (body and not re.search(r"\)\s*$", head))


def header_functions(root, path):
    text = csource.read(root, path)
    for start, head, body in header_statements(text):
        if not is_function(head, body):
            continue
        name, _ = csource.outer_call(head)
        yield Function(path, csource.line_of(text, start), name,
                       re.findall(r"\w+", head.split(name)[0]),
                       head, above(text, start))


def comment_fields(comment):
    """The labelled lines of a comment, in order: (label, text)."""
    fields = []
    for line in comment.splitlines():
        match = re.match(r" \* ([A-Z][a-z]+):(?:  +|\t)(\S.*)", line)
        if match:
            fields.append((match.group(1), match.group(2)))
        elif fields and re.match(r" \*  +\S", line):
            fields[-1] = (fields[-1][0],
                          fields[-1][1] + " " + line[2:].strip())
    return fields


def contract(comment):
    """(summary, lines of the text, {label: lines}) of a function's comment.

    The lines of a label keep what they are indented by beyond its column.
    """
    summary, text, fields, column, label = [], [], {}, 0, None
    lines = lines_of(comment)
    while lines and lines[0]:
        summary.append(lines.pop(0).strip())
    for line in lines:
        match = LABEL.match(line)
        if match:
            label = match.group(1)
            column = match.start(3)
            fields[label] = [match.group(3)]
        elif label and line.startswith("  "):
            indent = len(line) - len(line.lstrip())
            fields[label].append(" " * max(0, indent - column)
                                 + line.strip())
        elif not label:
            text.append(line)
    joined = " ".join(summary)
    return re.sub(r"^\w+ - ", "", joined).rstrip("."), text, fields


def type_of(text, start, head, body):
    end = text.find(";", start + len(head.lstrip()) + len(body or "") - 1)
    declaration = text[start:end + 1]
    match = re.match(r"\s*(struct|union|enum)\s+(\w+)\s*\Z", head)
    if match:
        return Type(match.group(1) + " " + match.group(2),
                    above(text, start), declaration)
    match = re.match(r"typedef\b.*?\b(\w+)\s*(?:\([^()]*\))?\s*\Z",
                     head.strip(), re.S)
    if match and body is None:
        return Type(match.group(1), above(text, start), declaration)
    return None


def macros(text):
    """(offset, Macro) of each macro that is there for users."""
    gone = set(re.findall(r"^#undef (\w+)", text, re.M))
    end, private = -1, False  # of the macros in one block
    for match in re.finditer(r"^#define (SLEY_\w+)(\([^)]*\))?"
                             r"((?:\\\n|[^\n])*)", text, re.M):
        name = match.group(1)
        if name.endswith("_H") or name in gone:
            continue
        value = match.group(3).strip()
        beside = re.search(r"/\*(.*?)\*/$", value, re.S)
        comment = above(text, match.start())
        private = bool(PRIVATE_WORD.search(comment)) or (
            private and match.start() == end + 1)
        end = match.end()
        if beside:
            value = value[:beside.start()].strip()
            comment = comment or beside.group()
        yield match.start(), Macro(name, match.group(2) or "", value, comment,
                                   private)


# A module that comes with the library.
MODULE = re.compile(
    r"^SLEY_EXPORT extern const struct sley_module (sley_\w+);", re.M)


class Header:
    def __init__(self, root, path):
        text = csource.read(root, path)
        self.path = path
        self.name = os.path.relpath(path, "include")
        opening = [c for c in re.findall(r"/\*.*?\*/", text[:4096], re.S)
                   if f"{self.name} - " in c]
        lines = lines_of(opening[0]) if opening else [f"{self.name} - "]
        self.summary, self.text, _ = contract("\n".join(
            ["/*"] + [" * " + line for line in lines] + [" */"]))
        self.summary = self.summary.split(" - ", 1)[-1]
        self.items = self.read_items(root, text)
        self.modules = MODULE.findall(text)

    def read_items(self, root, text):
        found = [(match.start(), Section(match.group(1)))
                 for match in SECTION.finditer(text)]
        found += [(match.start(), Remark(match.group()))
                  for match in REMARK.finditer(text)]
        functions = {f.line: f for f in header_functions(root, self.path)}
        for start, head, body in header_statements(text):
            item = functions.get(csource.line_of(text, start))
            if not item:
                item = type_of(text, start, head, body)
            if item:
                found.append((start, item))
        found += macros(text)
        return [item for _, item in sorted(found, key=lambda pair: pair[0])]

    def of(self, kind):
        return [item for item in self.items if isinstance(item, kind)]
