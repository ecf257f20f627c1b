# SPDX-License-Identifier: MIT
"""textmutant - mutants that are written down as text: lists and their syntax.

A list is read and compared line by line.  An entry is a heading, and then what
is changed, as in a diff without line numbers:

    M7 src/core/sched/place.c m07_*
     static void place(struct worker *worker)
    -	if (worker->step)
    -		return;
    +	if (!worker->step)
    +		return;

A line with "-" is there before, one with "+" after, one with a blank in both
texts: it says where, when the changed line alone is there twice.  "@@" begins
a second place in the same file.  What is before must be whole lines that are in
the file exactly once; else the entry is stale, and that is an error.  So a
file may be moved or grow, and the entry follows with one word changed.

A line that begins with "=" is an argument, for the tool that reads the list.
"#" begins a comment, and an empty line ends an entry.
"""
import csource


class Stale(Exception):
    """The text is not there, or there twice."""


class Change:
    """One place: some lines become others."""

    def __init__(self):
        self.old, self.new = [], []

    def apply(self, text):
        old = "\n" + "\n".join(self.old) + "\n"
        new = "\n" + "\n".join(self.new) + "\n" if self.new else "\n"
        count = ("\n" + text).count(old)
        if count != 1:
            raise Stale("the old text is not in the file" if not count else
                        f"the old text is {count} times in the file")
        return ("\n" + text).replace(old, new)[1:]


class Entry:
    """A heading, split into words, and what follows it."""

    def __init__(self, line, words):
        self.line, self.words = line, words
        self.changes = []
        self.argument = ""

    def apply(self, text):
        for change in self.changes:
            text = change.apply(text)
        return text


def parse(path, text, report):
    """The entries of the list at path."""
    entries, entry = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            continue
        if not line.strip() and not (entry and line[:1] == " "):
            entry = None
        elif line[0] in "-+ " or line.rstrip() == "@@":
            if entry is None:
                report.add(path, number, "a change without a heading")
                continue
            if not entry.changes or line.rstrip() == "@@":
                entry.changes.append(Change())
            if line[0] in "- ":
                entry.changes[-1].old.append(line[1:])
            if line[0] in "+ ":
                entry.changes[-1].new.append(line[1:])
        elif line[0] == "=":
            if entry is None:
                report.add(path, number, "an argument without a heading")
                continue
            entry.argument = (entry.argument + " " + line[1:].strip()).strip()
        else:
            entry = Entry(number, line.split())
            entries.append(entry)
    return [e for e in entries if sound(path, e, report)]


def sound(path, entry, report):
    for change in entry.changes:
        if not change.old or change.old == change.new:
            report.add(path, entry.line, "changes nothing")
            return False
    return True


def mutated(root, path, entry):
    """The text of the file at path with the entry's changes; may raise Stale."""
    try:
        text = csource.read(root, path)
    except FileNotFoundError:
        raise Stale("there is no such file") from None
    return entry.apply(text)
