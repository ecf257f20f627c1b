#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""row_mutants - each row of docs/CONFORMANCE.md, broken once: its test must fail.

tests/rows.txt has a mutant for each row.  A mutant is applied to a copy of one
file, what depends on that file is built beside the build (overlay.py), and the
tests of the row are run: by default those that docs/CONFORMANCE.md names, in
that order, until one fails.  That is an assertion, an abort or a time-out.  The
same tests must pass without the mutant.  A row whose mutant survives is a row
without a test.

    M7 src/core/sched/place.c m07_*
    -	if (worker->step)
    +	if (!worker->step)

That is the row, the file, and perhaps the tests: names in TEST(), with * for
many, or names of ctest.  textmutant.py says how a change is written.  A row may
have several mutants.  A row that is not built has none:

    W29 -
    = Belongs to the nodes.

A mutant whose text is not in its file exactly once is an error, and so is a row
without a mutant that is not under "?":

    ? M1 M2 M3

    row_mutants.py --check              rows.txt against page, tests and sources
    row_mutants.py --row M7 --row S4    these rows
    row_mutants.py --sample 6 --seed 1  some rows; the same for the same seed
    row_mutants.py --all                every row
"""
import json
import os
import random
import re
import sys
import tempfile
import time

import check_rows
import csource
import overlay
import textmutant
import trial

LIST = "tests/rows.txt"
TRIES = 5


class Mutant:
    def __init__(self, entry, patterns):
        self.row, self.path = entry.words[:2]
        self.entry = entry
        self.patterns = entry.words[2:] or patterns
        self.verdict = None  # killed, survived; error: it proves nothing
        self.why = ""
        self.seconds = 0.0

    def __str__(self):
        return f"{self.row} ({LIST}:{self.entry.line}, {self.path})"


class Run:
    """Tests of one program: what ctest calls it, and which of its tests."""

    def __init__(self, name, pattern):
        self.name = name
        self.filter = pattern.rstrip("*") if pattern else None

    def key(self):
        return self.name, self.filter

    def __str__(self):
        return self.name + (f" {self.filter}" if self.filter else "")


# ---- the list --------------------------------------------------------------

def read_list(root, report):
    """Mutants, rows that need none, rows that still lack one."""
    try:
        text = csource.read(root, LIST)
    except FileNotFoundError:
        report.add(LIST, 1, "is not there")
        return [], {}, {}
    without, lacking, entries = {}, {}, []
    for entry in textmutant.parse(LIST, text, report):
        if entry.words[0] == "?":
            lacking.update((row, entry.line) for row in entry.words[1:])
        elif entry.words[1:] == ["-"]:
            without[entry.words[0]] = entry
        elif len(entry.words) < 2 or not entry.changes:
            report.add(LIST, entry.line, "not: row, file, and what is changed")
        else:
            entries.append(entry)
    return entries, without, lacking


def check_list(root, rows, entries, without, lacking, report):
    """Each row is there, and each text is where it should be."""
    mutated = {e.words[0]: e.line for e in entries}
    for entry in entries:
        try:
            textmutant.mutated(root, entry.words[1], entry)
        except textmutant.Stale as stale:
            report.add(LIST, entry.line, f"{entry.words[0]}: {stale}: "
                       f"{entry.words[1]}")
    for row, entry in without.items():
        if len(entry.argument.split()) < 3:
            report.add(LIST, entry.line, f"{row}: no reason")
        if row in rows and rows[row].patterns:
            report.add(LIST, entry.line, f"{row} has tests, so it needs a "
                       "mutant")
    known = {**{r: e.line for r, e in without.items()}, **lacking, **mutated}
    for row, line in sorted(known.items()):
        if row not in rows:
            report.add(LIST, line, f"{row} is no row of {check_rows.PAGE}")
        if (row in mutated) + (row in without) + (row in lacking) > 1:
            report.add(LIST, line, f"{row} has a mutant, and is said to have "
                       "none")
    for row, found in sorted(rows.items()):
        if row not in known:
            report.add(check_rows.PAGE, found.line, f"{row} has no mutant in "
                       f"{LIST}")


def runs_of(mutant, tests, report):
    """What is run for it, in order."""
    runs = {}
    for pattern in mutant.patterns:
        names = check_rows.match(tests, pattern)
        if not names:
            report.add(LIST, mutant.entry.line,
                       f"{mutant.row}: there is no test {pattern}")
        for name in names:
            program = tests[name].ctest
            run = Run(program, None if name == program else
                      pattern if re.fullmatch(r"\w+\*?", pattern) else name)
            runs.setdefault(run.key(), run)
    return list(runs.values())


# ---- one mutant ------------------------------------------------------------

class Judge:
    def __init__(self, build, tests, args, report):
        self.build, self.tests, self.args = build, tests, args
        self.report = report
        self.passes = {}

    def command(self, run, place=0, program=None):
        words = list(self.build.tests[run.name].command)
        words[place] = program or words[place]
        return words + ([run.filter] if run.filter else [])

    def start(self, run, place=0, program=None):
        test = self.build.tests[run.name]
        seconds = self.args.seconds
        environment = dict(test.environment, TEST_TIMEOUT=str(seconds))
        return trial.run(self.command(run, place, program),
                           min(test.timeout, 6 * seconds), test.folder,
                           environment, until="FAIL ")

    def passes_without(self, run):
        """What it says without a mutant: "" is that it passes."""
        if run.key() not in self.passes:
            outcome = self.start(run)
            self.passes[run.key()] = \
                "" if outcome.status == 0 else \
                "is skipped" if outcome.status == 77 else \
                "fails without the mutant: " + first_failure(outcome)
        return self.passes[run.key()]

    def outputs_of(self, run):
        """The programs of its command, by their places; a script has several."""
        test = self.build.tests.get(run.name)
        outputs = {place: self.build.output(word)
                   for place, word in enumerate(test.command if test else [])}
        return {place: output for place, output in outputs.items() if output}

    def made_of(self, run, path):
        """The place and the program that the file @path changes."""
        for place, output in self.outputs_of(run).items():
            if self.build.affected(output, path):
                return place, output
        return None, None

    def called_as(self, run, place, program):
        """A program of several files knows by its name whose tests to run."""
        name = os.path.basename(self.build.tests[run.name].command[place])
        link = os.path.join(os.path.dirname(program), name)
        if not os.path.lexists(link):
            os.symlink(os.path.basename(program), link)
        return link

    def judge(self, mutant):
        begun = time.monotonic()
        try:
            self.try_runs(mutant)
        except (overlay.BuildError, textmutant.Stale) as error:
            mutant.verdict, mutant.why = "error", str(error)
        mutant.seconds = time.monotonic() - begun
        return mutant

    def outcomes(self, run, place, program):
        """--times of them.  Else the first that fails, of a few: what takes two
        CPUs at the same moment may not be seen on a busy machine."""
        if self.args.times > 1:
            return [self.start(run, place, program)
                    for _ in range(self.args.times)]
        for _ in range(TRIES):
            outcome = self.start(run, place, program)
            if fails(outcome):
                break
        return [outcome]

    def try_runs(self, mutant):
        text = textmutant.mutated(self.args.root, mutant.path, mutant.entry)
        tried, refused = [], []
        with tempfile.TemporaryDirectory(prefix="sley-row-") as folder:
            for run in runs_of(mutant, self.tests, self.report):
                place, output = self.made_of(run, mutant.path)
                if not output:
                    refused.append(f"{run} is not made of {mutant.path}")
                    continue
                program = self.called_as(run, place, self.build.make(
                    output, mutant.path, text, folder))
                killed = self.outcomes(run, place, program)
                failed = [k for k in killed if fails(k)]
                tried.append(f"{run} ({len(failed)} of {len(killed)})"
                             if self.args.times > 1 else str(run))
                if len(failed) < len(killed):
                    continue
                without = self.passes_without(run)
                if without:
                    refused.append(f"{run} {without}")
                    continue
                mutant.verdict = "killed"
                mutant.why = f"{run}: {first_failure(failed[0])}"
                return
        mutant.verdict = "survived" if tried and not refused else "error"
        mutant.why = "; ".join(["tried " + ", ".join(tried)] * bool(tried)
                               + refused)


def fails(outcome):
    return outcome.status not in (0, 77)


def first_failure(outcome):
    """In one line: what failed."""
    if outcome.status is None:
        return "took too long"
    lines = outcome.output.split("\n")
    for word in ("FAIL ", "FAIL", "check failed"):
        for line in lines:
            if word in line:
                return line.strip()
    last = [line.strip() for line in lines if line.strip()]
    return f"status {outcome.status}" + (f": {last[-1]}" if last else "")


# ---- all of them -------------------------------------------------------------

def sample(mutants, number, seed):
    rows = sorted({m.row for m in mutants})
    chosen = set(random.Random(seed).sample(rows, min(number, len(rows))))
    return [m for m in mutants if m.row in chosen]


def record(mutant):
    path = os.environ.get("SLEY_PROOF")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({
                "kind": "row-mutant", "row": mutant.row, "file": mutant.path,
                "verdict": mutant.verdict, "why": mutant.why}) + "\n")


def show(mutant, args, report):
    if mutant.verdict != "killed":
        report.add(LIST, mutant.entry.line, f"{mutant.row}: {mutant.path}: "
                   f"{mutant.verdict}: {mutant.why}")
    elif args.verbose:
        print(f"killed: {mutant}: {mutant.seconds:.1f} s: {mutant.why}",
              flush=True)
    record(mutant)


def arguments():
    parser = csource.root_argument(__doc__.split("\n")[0])
    parser.add_argument("--build", default="build-dev")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--row", action="append", default=[])
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=None,
                        help="of the sample; another one each day without")
    parser.add_argument("--times", type=int, default=1, metavar="N",
                        help="run the tests of a mutant N times; all must fail")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20,
                        help="that one test may take")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not (args.check or args.all or args.row or args.sample):
        parser.error("one of --check, --row, --sample, --all")
    if args.seed is None:
        args.seed = int(time.time() // 86400)
    return args


def judge_all(mutants, tests, args, report):
    build = overlay.Build(args.root, args.build)
    judge = Judge(build, tests, args, report)
    runs = [r for m in mutants for r in runs_of(m, tests, csource.Report(""))]
    build.update({o for run in runs
                  for o in judge.outputs_of(run).values()})
    with trial.in_parallel(args.jobs) as pool:
        for mutant in pool.map(judge.judge, mutants):
            show(mutant, args, report)


def main():
    args = arguments()
    begun = time.monotonic()
    report = csource.Report("row_mutants")
    tests = check_rows.find_tests(args.root)
    rows = check_rows.read_rows(csource.read(args.root, check_rows.PAGE))
    entries, without, lacking = read_list(args.root, report)
    check_list(args.root, rows, entries, without, lacking, report)
    if args.check:
        print(f"row_mutants: {len(lacking)} rows lack a mutant")
        return report.finish(len(rows), "rows")
    mutants = [Mutant(e, rows[e.words[0]].patterns) for e in entries
               if e.words[0] in rows]
    if args.row:
        unknown = set(args.row) - {m.row for m in mutants}
        if unknown:
            sys.exit(f"row_mutants: no mutant for {' '.join(sorted(unknown))}")
        mutants = [m for m in mutants if m.row in args.row]
    elif not args.all:
        mutants = sample(mutants, args.sample, args.seed)
        print(f"row_mutants: a sample of {len(mutants)}, seed {args.seed}")
    judge_all(mutants, tests, args, report)
    print(f"row_mutants: {time.monotonic() - begun:.0f} s")
    return report.finish(len(mutants), "mutants")


if __name__ == "__main__":
    csource.run(main)
