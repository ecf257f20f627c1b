#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_prose - comments and documents that are understood at the first reading.

Three things are counted, in the comments of C sources and in the text of documents:

  who      a clause that begins with "who" or "whoever": name the role instead, the
           submitter, the waiter, the canceller
  vague    "those who", "that one", "such a one", "what is", "all there is", "the one
           who": name the thing
  pronouns the share of "it", "its", "they", "one", "nobody" and their like: each
           has to be looked up

A file has none of the first and at most 0.7 in 1,000 words of the second, where one
is always allowed.  A file of more than 100 words has at most 7 % pronouns.  Each
folder that is listed below has at most 4.5 % as a whole.

tools/prose.txt names the files that do not pass yet.  A file there that passes is an
error, too: the list may only become shorter.
"""
import re

import csource

PRONOUNS = set(
    "it its itself they them their theirs those he she him her who whom whose "
    "what one ones none nobody somebody anybody everybody another".split())
WHO = re.compile(
    r"(?:^|[.:;,(]\s+|\b(?:and|or|but|for|of|to|by|if|than)\s+)"
    r"(?:who|whoever)\b", re.I)
VAGUE = re.compile(r"\b(?:those who|that one|such a one|what is|all there is|"
                   r"the one who)\b", re.I)
SOURCES = ("include/*.h", "src/*.c", "src/*.h", "programs/*.c", "programs/*.h",
           "examples/*.c", "bench/*.c", "bench/*.h")
DOCUMENTS = ("*.md",)
# Kept as they were said at the time, or written by a program.
EXEMPT = ("docs/adr/", "CHANGELOG.md", "docs/PROOF.md")
WHOLE = ("include", "src/graph", "src/actor", "src/sync", "src/subprocess",
         "src/shm")
WHOLE_MAX = 4.5
FILE_MAX = 7.0
LIST = "tools/prose.txt"


def comments(text):
    found = " ".join(re.findall(r"/\*(.*?)\*/", text, re.S))
    return re.sub(r"\n\s*\*", " ", found)


def running_text(text):
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    return re.sub(r"`[^`]*`", " x ", text)


class Count:
    def __init__(self, text):
        words = re.findall(r"[A-Za-z']+", text)
        self.words = len(words)
        self.pronouns = sum(w.lower() in PRONOUNS for w in words)
        self.who = len(WHO.findall(text))
        self.vague = len(VAGUE.findall(text))

    def share(self):
        return 100 * self.pronouns / max(self.words, 1)

    def complaints(self):
        if self.who:
            yield f"{self.who} times \"who\" without a noun: name the role"
        if self.vague > max(1, 0.7 * self.words / 1000):
            yield f"{self.vague} vague heads: name the thing"
        if self.words > 100 and self.share() > FILE_MAX:
            yield (f"{self.share():.1f} % pronouns, more than {FILE_MAX:.0f}: "
                   f"repeat the noun")


def read_list(root):
    return {line.strip(): number for number, line in enumerate(
        csource.read(root, LIST).splitlines(), 1)
        if line.strip() and not line.startswith("#")}


def counts(root):
    for path in csource.files(root, *SOURCES, *DOCUMENTS):
        if path.startswith(EXEMPT):
            continue
        text = csource.read(root, path)
        yield path, Count(running_text(text) if path.endswith(".md")
                          else comments(text))


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_prose")
    pending, checked, whole = read_list(root), 0, {}
    for path, count in counts(root):
        checked += 1
        complaints = list(count.complaints())
        if path in pending:
            number = pending.pop(path)
            if not complaints:
                report.add(LIST, number, f"{path} passes: take it out")
        else:
            for complaint in complaints:
                report.add(path, 1, complaint)
        for folder in WHOLE:
            if path.startswith(folder + "/"):
                total = whole.setdefault(folder, [0, 0])
                total[0] += count.pronouns
                total[1] += count.words
    for path, number in pending.items():
        report.add(LIST, number, f"{path} is not there")
    for folder, (pronouns, words) in whole.items():
        if words > 1000 and 100 * pronouns / words > WHOLE_MAX:
            report.add(folder, 1, f"{100 * pronouns / words:.1f} % pronouns, "
                                  f"more than {WHOLE_MAX}")
    return report.finish(checked)


if __name__ == "__main__":
    csource.run(main)
