# SPDX-License-Identifier: MIT
"""errors_field - what the line "Errors:" of a header comment says.

It is written for people, in one of these forms, which may be mixed:

  none                              none; true if it was taken
  -EAGAIN (no room), -EPIPE         -ETIMEDOUT, -ECANCELED; it is not held then
  -EINVAL   @nr is 0                as sley_create()
  -EAGAIN (no thread): nothing ran  NULL if there is no memory
"""
import re

CODE = r"(?:-E[A-Z0-9]+|SLEY_E[A-Z0-9_]+|-?\d+)"
TABLE = re.compile(rf"({CODE})(?: {{2,}}|\t+)(\S.*)")
ITEM = re.compile(rf"({CODE})(?:\s*\((.*)\))?\Z", re.S)


def split_outside(text, mark):
    """text split at the marks that are not in parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


class Errors:
    """entries are (code, text or ""), in order.

    value is what is said of the result of a function that cannot fail;
    is_value: the codes are the result, not failures.
    """

    def __init__(self, lines):
        self.entries, self.references, self.notes = [], [], []
        self.value, self.misuse, self.is_value = "", "", False
        free = ""
        last = None  # the table row that further lines belong to
        for line in lines:
            match = TABLE.fullmatch(line)
            if match:
                last = [match.group(1), match.group(2)]
                self.prose(free)
                free = ""
                self.entries.append(last)
            elif line.startswith(" ") and last:
                last[1] += " " + line.strip()
            else:
                last = None
                free += " " + line.strip()
        self.prose(free)
        self.entries = [tuple(entry) for entry in self.entries]
        self.is_value = any(re.fullmatch(r"\d+", code)
                            for code, _ in self.entries)

    def prose(self, text):
        text = text.strip()
        if not text:
            return
        parts = split_outside(text, ";")
        if parts[0] == "none":
            note = "; ".join(parts[1:])
            if "misuse" in note:
                self.misuse = note
            else:
                self.value = note
            return
        if re.match(r"\d+ if ", parts[0]):
            self.value = text
            return
        first = split_outside(parts[0], ":")
        self.listed(first[0])
        self.notes += [": ".join(first[1:])] * (len(first) > 1) + parts[1:]

    def listed(self, text):
        if text.startswith("NULL if "):
            self.notes.append(text)
            return
        for item in split_outside(text, ","):
            item = re.sub(r"^and\b\s*|\s*\band$|:$", "", item).strip()
            match = ITEM.fullmatch(item)
            if match:
                self.entries.append([match.group(1), match.group(2) or ""])
            elif match := re.fullmatch(r"as (?:for )?(\w+\(\))", item):
                self.references.append(match.group(1))
            elif item:
                self.notes.append(item)
