# SPDX-License-Identifier: MIT
"""protocol_generate - mistakes in a protocol that can be made by a machine.

Only in functions that take part in a protocol: those with an atomic operation or
a lock.  What is changed is found by its form, which clang-format makes reliable:

    once      a loop that tries again does not: while, do while
    recheck   an if that only leaves (continue, break, return) never does
    term      one part of a condition with && or || is taken as said
    swap      two steps that follow each other, both seen by others, change places
    omit      a step is left out: a call whose result nobody uses

What is evaluated stays evaluated: only the decision is wrong.
"""
import re

import csource
import mutants

KINDS = ("once", "recheck", "term", "swap", "omit")
# Atomic operations behind a name.
ACCESSOR = (r"strand_(?:set_)?(?:task|home)|runtime_is_cancelled|"
            r"task_turn_\w+|process_(?:set_)?pid|idle_counts_after_work|"
            r"client_lock|"
            r"count_word_(?:reset|add|stop|wake|load|ask|sleep|clear)")
TAKES_PART = re.compile(
    mutants.OPERATION.pattern +
    rf"|\b(?:(?:spin|waitq)_(?:try_)?lock\w*|{ACCESSOR})\s*\(")
CONDITION = re.compile(r"\b(if|while|return)\b\s*")
LEAVES = re.compile(r"\s*\n\s*((?:continue|break|return\b[^;{}]*|goto \w+);)")
WRITE = re.compile(
    r"\b(?:store|xchg|cas|add|sub|or|and)_(?:relaxed|acquire|release|acq_rel)")
CALL = re.compile(r"\s*(?:\(void\)\s*!?\s*)?([A-Za-z_]\w*)\s*\(")
LABEL = re.compile(r"\s*(?:case\b[^;]*|\w+)\s*$")
# What says or counts something is no step of a protocol; nor is a hint.
NO_STEP = re.compile(
    r"\b(?:sley_assert|sley_check|sley_fatal|sley_bug|trace_\w+|counter_\w+|report\w*|"
    r"gauge_\w+|watchdog_look|"
    r"chaos_\w+|spin_hint|spin_yield|compiler_barrier|memset|memcpy|"
    r"_Static_assert|prefetch|\w*lock\w*)\b(?=\s*\()")


class Generated:
    """One mutant: a piece of a file's text, and what becomes of it."""

    def __init__(self, path, function, kind, text, line):
        self.path, self.function, self.kind = path, function, kind
        self.text = text  # of what is changed, without blanks
        self.line = line
        self.nth = 1      # of its function, text and kind
        self.edits = []   # (start, end, new text)

    def apply(self, source):
        for start, end, new in sorted(self.edits, reverse=True):
            source = source[:start] + new + source[end:]
        return source

    def key(self):
        return self.function, self.kind, self.text


def closing(code, at):
    """Where the parenthesis closes that was opened before at."""
    return mutants.closing(code, at)


def operands(code, start, end):
    """Parts of the condition in code[start:end], and what joins them."""
    wrapped = re.match(r"\s*(?:un)?likely\(", code[start:end])
    if wrapped:
        inner = start + wrapped.end()
        close = closing(code, inner)
        if not code[close + 1:end].strip():
            start, end = inner, close
    for joint in ("||", "&&"):
        parts, depth, last, at = [], 0, start, start
        while at < end:
            if code[at] in "([{":
                depth += 1
            elif code[at] in ")]}":
                depth -= 1
            elif depth == 0 and code[at] == "?":
                return [], ""
            elif depth == 0 and code[at:at + 2] == joint:
                parts.append((last, at))
                last = at + 2
                at += 1
            at += 1
        if parts:
            return parts + [(last, end)], joint
    return [], ""


def trim(code, start, end):
    while start < end and code[start].isspace():
        start += 1
    while end > start and code[end - 1].isspace():
        end -= 1
    return start, end


class Reader:
    """The mutants of one file."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = csource.blank_directives(csource.blank(text))
        self.found = []

    def add(self, function, kind, span, *edits):
        piece = mutants.squeeze(self.code[span[0]:span[1]])
        mutant = Generated(self.path, function, kind, piece,
                           csource.line_of(self.code, span[0]))
        mutant.edits = list(edits)
        mutant.nth += sum(m.key() == mutant.key() for m in self.found)
        self.found.append(mutant)

    def read(self):
        lines = [0] + [m.end() for m in re.finditer("\n", self.code)]
        for name, first, last, _ in csource.functions(self.text):
            start, end = lines[first - 1], lines[min(last, len(lines) - 1)]
            body = self.code.index("{", start)
            if TAKES_PART.search(self.code[body:end]):
                self.conditions(name, body, end)
                self.steps(name, body, end)
        return self.found

    # ---- decisions -----------------------------------------------------------

    def conditions(self, function, start, end):
        for match in CONDITION.finditer(self.code, start, end):
            word, at = match.group(1), match.end()
            if word == "return":
                self.terms(function, at, self.code.index(";", at))
                continue
            if self.code[at] != "(":
                continue
            close = closing(self.code, at + 1)
            if word == "while":
                self.loop(function, match.start(), at, close)
            else:
                self.leave(function, at, close)
            self.terms(function, at + 1, close)

    def loop(self, function, word, at, close):
        condition = self.text[at + 1:close]
        if self.code[close + 1] == ";":
            new = f"while (({condition}) && false)"
        else:
            new = (f"for (bool once_ = true; once_ && ({condition}); "
                   "once_ = false)")
        self.add(function, "once", (word, close + 1), (word, close + 1, new))

    def leave(self, function, at, close):
        leaves = LEAVES.match(self.code, close + 1)
        if not leaves or self.code[leaves.end():].lstrip().startswith("else"):
            return
        condition = self.text[at + 1:close]
        if NO_STEP.search(condition):
            return
        self.add(function, "recheck", (at, close + 1),
                 (at, close + 1, f"(({condition}) && false)"))

    def terms(self, function, start, end):
        parts, joint = operands(self.code, start, end)
        for part in parts:
            part = trim(self.code, *part)
            operand = self.text[part[0]:part[1]]
            if NO_STEP.search(operand):
                continue
            said = "true" if joint == "&&" else "false"
            self.add(function, "term", part,
                     (*part, f"((void)({operand}), {said})"))

    # ---- steps ---------------------------------------------------------------

    def statements(self, start, end):
        """(start, end) of each simple statement; None between blocks."""
        depth, last = 0, start + 1
        for at in range(start + 1, end):
            char = self.code[at]
            if char in "([":
                depth += 1
            elif char in ")]":
                depth -= 1
            elif depth == 0 and (char in "{}" or char == ":" and LABEL.match(
                    self.code[last:at])):
                yield None
                last = at + 1
            elif depth == 0 and char == ";":
                yield trim(self.code, last, at + 1)
                last = at + 1

    def steps(self, function, start, end):
        before = None
        for span in self.statements(start, end):
            text = self.code[span[0]:span[1]] if span else ""
            call = CALL.match(text)
            simple = call and not NO_STEP.search(text) and \
                call.group(1) not in ("if", "while", "for", "switch", "return",
                                      "sizeof", "do", "else")
            if simple and re.fullmatch(
                    r"\s*;", self.code[closing(self.code, span[0] +
                                               call.end()) + 1:span[1]]):
                self.add(function, "omit", span,
                         (*span, f"if (false) {{ {self.text[span[0]:span[1]]} }}"))
            else:
                simple = re.match(r"[\w>\-.\[\]*]+\s=\s", text) and "->" in \
                    text.split("=")[0]
            if simple and before and (WRITE.search(text) or
                                      WRITE.search(self.code[slice(*before)])):
                first = self.text[before[0]:before[1]]
                second = self.text[span[0]:span[1]]
                self.add(function, "swap", (before[0], span[1]),
                         (*before, second), (*span, first))
            before = span if simple else None


def generate(path, text):
    return Reader(path, text).read()
