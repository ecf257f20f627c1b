#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants - each atomic operation made wrong once: some model must notice.

The operations are read from the sources, the models that come by each of them
from the models (model_x --sites).  Each mutant is then run in those, cheapest
first, until one fails: it is killed.  What can be made wrong, and how, is in
tests/model/mutate.c.

What survives must be in tests/model/equivalent.txt, with the argument:

    src/lf/ring.h ring_take cas_release(&ring->head) succeed
        The argument, indented.

That is file, function, operation with its first argument (#2: the second such
one in the function; a number alone counts all of the function), and the kinds
of mutants, with commas.  The kind "uncovered" says why no model comes by an
operation that has an order.  * stands for any function, operation or kind.  An entry that
matches nothing, or whose mutant is killed, is an error, too.  A late store
that nothing can be early for is void: it is no mutant.

    mutants.py --build build-dev             all of them
    mutants.py --list                        which there are
    mutants.py --only src/lf/ring.h:134      those of a line, a file, a function
    mutants.py --sample 20                   some, and only quickly
    mutants.py --check                       equivalent.txt against the sources
    mutants.py --protocol ...                the other class: protocol_mutants.py
"""
import fnmatch
import json
import os
import re
import subprocess
import sys
import threading
import time

import csource
import trial

EQUIVALENT = "tests/model/equivalent.txt"
SOURCES = ("src/*.c", "src/*.h", "include/sley/*.h")
# What is not of the library's own making, or below the explorer.
EXEMPT = ("src/base/atomic.h", "src/os/membarrier.*", "src/os/futex.*")
OPERATION = re.compile(
    r"\b(load|store|xchg|cas|add|sub|or|and)_"
    r"(relaxed|acquire|release|acq_rel_acquire|acq_rel|seq_cst)\s*\("
    r"|\b__atomic_(load|store|exchange|compare_exchange|fetch_\w+?)(?:_n)?\s*\("
    r"|\bos_(futex_wake|membarrier)(?:_shared)?\s*\("
    r"|\bSLEY_(LOAD_OWN)\s*\(")
SHAPES = {"load": "load", "LOAD_OWN": "load", "store": "store", "cas": "cas",
          "compare_exchange": "cas", "futex_wake": "wake",
          "membarrier": "barrier"}
ORDERED = {"acquire": ["relaxed"], "release": ["relaxed"],
           "acq_rel": ["relaxed", "no-acquire", "no-release"],
           "acq_rel_acquire": ["relaxed", "no-acquire", "no-release",
                               "no-failure"],
           "seq_cst": ["relaxed", "no-total"], "relaxed": [], "": []}
SHAPED = {"load": [], "store": ["late"], "rmw": ["split"],
          "cas": ["split", "succeed"], "wake": ["skip"], "barrier": ["skip"]}
MODES = ("sc", "tso", "ra")
# Only release/acquire histories know orders.
BY_ORDER = ("relaxed", "no-acquire", "no-release", "no-failure", "no-total")
# What a few executions find is not searched for with many; at random they find
# it sooner than one after the other, but are never all there are.
QUICK = (("--limit", "100"), ("--random", "100"))
LONGER = (("--random", "1000"), ("--limit", "2000"))


class Operation:
    """One atomic operation in the source."""

    def __init__(self, path, code, match, function):
        self.path = path
        self.function = function
        self.line = csource.line_of(code, match.start())
        end = closing(code, match.end())
        self.last_line = csource.line_of(code, end)
        self.name = match.group().rstrip("( \t\n")
        arguments = csource.split_parameters(code[match.end():end])
        self.place = squeeze(arguments[0]) if arguments else ""
        word = match[1] or match[3] or match[4] or match[5]
        self.shape = SHAPES.get(word, "rmw")
        self.order = match.group(2) or ""
        if match.group(3):
            self.order = order_of(self.shape, arguments)
        self.nth = self.nth_of_all = 1 # in its function: of its text, of all
        self.site = None               # as the explorer calls it
        self.models = []

    def text(self):
        return f"{self.name}({self.place})"

    def kinds(self):
        return ORDERED[self.order] + SHAPED[self.shape]

    def __str__(self):
        return f"{self.path}:{self.line} {self.function} {self.text()}"


class Mutant:
    def __init__(self, operation, kind):
        self.operation = operation
        self.kind = kind
        self.verdict = None  # killed, equivalent, survived; void: no effect
        self.killer = None
        self.executions = 0
        self.unfinished = 0  # searches that were cut short
        self.complete = set() # model, mode: --limit stopped no search there
        self.wrong = 0
        self.notes = set()

    def __str__(self):
        return f"{self.operation} {self.kind}"


class Entry:
    """One of equivalent.txt."""

    def __init__(self, line, path, function, operation, kinds):
        self.line = line
        self.path, self.function = path, function
        self.operation, _, self.nth = operation.partition("#")
        self.kinds = kinds.split(",")
        self.argument = ""

    def matches(self, op, kind):
        if not fnmatch.fnmatch(op.path, self.path):
            return False
        if self.function not in ("*", op.function):
            return False
        if not any(k == kind or (k == "*" and kind != "uncovered")
                   for k in self.kinds):
            return False
        if self.operation == "*" or (not self.operation and
                                     self.nth == str(op.nth_of_all)):
            return True
        return self.operation == op.text() and \
            self.nth in ("", str(op.nth))


# ---- reading ------------------------------------------------------------------

def closing(code, at):
    """Where the parenthesis closes that was opened before at."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at - 1


def squeeze(text):
    return re.sub(r"\s+", "", text)


def order_of(shape, arguments):
    orders = [a for a in arguments if a.startswith("__ATOMIC_")]
    success = orders[0][len("__ATOMIC_"):].lower()
    if shape == "cas" and success == "acq_rel" and \
            orders[-1] == "__ATOMIC_ACQUIRE":
        return "acq_rel_acquire"
    return success


def operations_of(root, path):
    text = csource.read(root, path)
    code = csource.blank_directives(csource.blank(text))
    functions = list(csource.functions(text))
    found, counts = [], {}
    for match in OPERATION.finditer(code):
        line = csource.line_of(code, match.start())
        names = [n for n, first, last, _ in functions if first <= line <= last]
        if not names:
            continue  # a declaration
        op = Operation(path, code, match, names[-1])
        for key in ((op.function, op.text()), (op.function,)):
            counts[key] = counts.get(key, 0) + 1
        op.nth = counts[(op.function, op.text())]
        op.nth_of_all = counts[(op.function,)]
        found.append(op)
    return found


def all_operations(root):
    found = []
    for path in csource.files(root, *SOURCES):
        if not any(fnmatch.fnmatch(path, e) for e in EXEMPT):
            found += operations_of(root, path)
    return found


def read_entries(root, report):
    """The entries of equivalent.txt; none without the file."""
    entries = []
    try:
        lines = csource.read(root, EQUIVALENT).split("\n")
    except FileNotFoundError:
        return entries
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t":
            if not entries:
                report.add(EQUIVALENT, number, "an argument without an entry")
            else:
                entries[-1].argument += " " + line.strip()
            continue
        fields = line.split()
        if len(fields) != 4:
            report.add(EQUIVALENT, number,
                       "not: file, function, operation, kinds")
            continue
        entries.append(Entry(number, *fields))
    for entry in entries:
        if len(entry.argument.split()) < 3:
            report.add(EQUIVALENT, entry.line, "no argument")
    return entries


def check_entries(entries, operations, report):
    """Each entry must match something."""
    for entry in entries:
        if not any(entry.matches(op, kind) for op in operations
                   for kind in op.kinds() + ["uncovered"]):
            report.add(EQUIVALENT, entry.line, "matches no operation")


# ---- the models ---------------------------------------------------------------

def normal(root, path):
    """A path as the compiler saw it, from the root of the sources."""
    parts = path.split("/")
    for i in range(len(parts)):
        tail = "/".join(parts[i:])
        if parts[i] in ("src", "include", "tests") and \
                os.path.exists(os.path.join(root, tail)):
            return tail
    return path


class Model:
    def __init__(self, program, name):
        self.program, self.name = program, name
        self.seconds = 0.0
        self.modes = {}  # mode: what fails without any mutant, or "nothing"
        self.searched = {}
        self.lock = threading.Lock()

    def fails(self, mode, search, seconds):
        """What fails without a mutant, in the same search; "nothing"."""
        with self.lock:
            if (mode, search) not in self.searched:
                text, _ = run_model(self.program, "=" + self.name, "--mode",
                                    mode, *search, "--sites",
                                    seconds=10 * seconds)
                fields = text.split("\n")[0].split("\t")
                self.searched[mode, search] = \
                    fields[5] if fields[0] == "model" else "nothing"
                if self.searched[mode, search] != "nothing":
                    self.modes[mode] = self.searched[mode, search]
            return self.searched[mode, search]


def model_programs(build):
    folder = os.path.join(build, "tests", "model")
    if not os.path.isdir(folder):
        sys.exit(f"mutants: no models in {folder}")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.startswith("model_") and not name.startswith("model_self_")
            and os.access(os.path.join(folder, name), os.X_OK)
            and os.path.isfile(os.path.join(folder, name))]


def run_model(program, *arguments, seconds=120):
    """Its output and status; the status is None if it took too long."""
    try:
        done = subprocess.run([*trial.ENDS_WITH_US, program, *arguments],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds)
        return done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace"), None


def survey_program(program, limit):
    lines = []
    for mode in MODES:
        for slow in ([], ["--slow"]):
            text, status = run_model(program, "--sites", "--mode", mode,
                                     "--limit", str(limit), *slow, seconds=600)
            if status != 0:
                sys.exit(f"mutants: {program} --sites: status {status}\n{text}")
            lines += [line.split("\t") for line in text.split("\n")]
    return program, lines


def survey(root, programs, limit, jobs, operations):
    """Which models come by which operation; sets .site and .models."""
    by_path = {}
    for op in operations:
        by_path.setdefault(op.path, []).append(op)
    with trial.in_parallel(jobs) as pool:
        results = list(pool.map(lambda p: survey_program(p, limit), programs))
    strays = set()
    for program, lines in results:
        models = {}
        for fields in lines:
            if fields[0] == "model":
                model = models.setdefault(fields[1], Model(program, fields[1]))
                model.modes[fields[2]] = fields[5]
                model.seconds += float(fields[4])
        for fields in lines:
            if fields[0] == "site":
                name, place, call, expression, shape = fields[1:6]
                path, _, line = place.rpartition(":")
                path = normal(root, path)
                if path not in by_path:
                    continue
                op = find(by_path[path], int(line), call, expression, shape)
                if op:
                    op.site = f"{path}:{line},{call},{expression}"
                    if models[name] not in op.models:
                        op.models.append(models[name])
                else:
                    strays.add(f"{path}:{line}: {call}({expression})")
    return sorted(strays)


def find(operations, line, call, expression, shape):
    """The operation at a site.  Header paths go by other names there."""
    near = [op for op in operations
            if op.line <= line <= op.last_line and op.shape == shape]
    named = [op for op in near if op.name in (call, "os_" + call)]
    exact = [op for op in named or near if op.place == squeeze(expression)]
    return (exact or named or near or [None])[0]


def modes_for(kind, model):
    """Those that could see it, and have nothing to say without a mutant."""
    return [mode for mode in (("ra",) if kind in BY_ORDER else MODES)
            if model.modes.get(mode) == "nothing"]


def try_mutant(mutant, search, seconds):
    """Runs the models with that search; True: it is killed."""
    op = mutant.operation
    mutant.unfinished = 0
    for model in sorted(op.models, key=lambda m: m.seconds):
        for mode in modes_for(mutant.kind, model):
            # A higher limit would be the same search once more.
            if search[0] == "--limit" and (model, mode) in mutant.complete:
                continue
            text, status = run_model(
                model.program, "=" + model.name, "--mode", mode, *search,
                "--mutate", f"{op.site}:{mutant.kind}", seconds=seconds)
            fields = text.split("\n")[0].split("\t")
            verdict = fields[1] if fields[0] == "mutant" else "crash"
            if verdict == "unstable":
                mutant.notes.add(f"{model.name} ({mode}) became unstable")
                continue
            if status is None or verdict == "limit":
                mutant.unfinished += 1
            elif search[0] == "--limit" and verdict in ("lives", "unreached"):
                mutant.complete.add((model, mode))
            if fields[0] == "mutant":
                mutant.executions += int(fields[4])
                mutant.wrong += int(fields[6])
            if verdict not in ("killed", "crash") or status is None:
                continue
            if model.fails(mode, search, seconds) == "nothing":
                why = fields[7] if fields[0] == "mutant" else verdict
                mutant.killer = (f"{os.path.basename(model.program)} "
                                 f"{model.name} ({mode}): {why}")
                return True
    return False


def judge(mutant, entries, searches, seconds):
    for search in searches:
        if try_mutant(mutant, search, seconds):
            mutant.verdict = "killed"
            return mutant
        if not mutant.unfinished:
            break
    listed = any(e.matches(mutant.operation, mutant.kind) for e in entries)
    if mutant.kind == "late" and not mutant.wrong:
        mutant.verdict = "void"
    else:
        mutant.verdict = "equivalent" if listed else "survived"
    return mutant


def judge_all(mutants, entries, args):
    full = QUICK + LONGER + (("--limit", str(args.limit)),)
    with trial.in_parallel(args.jobs) as pool:
        # What is known to live is not searched for as long as the others.
        futures = [pool.submit(
            judge, m, entries,
            QUICK if any(e.matches(m.operation, m.kind) for e in entries)
            else full, args.seconds) for m in mutants]
        for future in futures:
            mutant = future.result()
            show(mutant, args)
            record(mutant)


def judge_sample(mutants, entries, args):
    """Until so many are killed, spread over all; only quickly."""
    wanted = args.sample
    mutants = [m for m in mutants if not any(
        e.matches(m.operation, m.kind) for e in entries)]
    done = []
    step = max(1, len(mutants) // wanted)
    order = [m for start in range(step) for m in mutants[start::step]]
    with trial.in_parallel(args.jobs) as pool:
        for i in range(0, len(order), args.jobs):
            batch = order[i:i + args.jobs]
            for mutant in pool.map(
                    lambda m: judge(m, entries, QUICK, args.seconds),
                    batch):
                if mutant.verdict == "survived" and mutant.unfinished:
                    continue  # that was too quick to say so
                done.append(mutant)
                show(mutant, args)
                record(mutant)
            if len(done) >= wanted:
                break
    return done


# ---- telling ------------------------------------------------------------------

def record(mutant):
    path = os.environ.get("SLEY_PROOF")
    if not path or mutant.verdict == "void":
        return
    op = mutant.operation
    line = json.dumps({
        "kind": "mutant", "site": f"{op.path}:{op.line}",
        "function": op.function, "operation": op.text(),
        "mutation": mutant.kind, "killed_by": mutant.killer,
        "verdict": mutant.verdict, "executions": mutant.executions})
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def show(mutant, args):
    if args.json:
        op = mutant.operation
        print(json.dumps({
            "path": op.path, "line": op.line, "function": op.function,
            "operation": op.text(), "mutation": mutant.kind,
            "verdict": mutant.verdict, "killed_by": mutant.killer,
            "executions": mutant.executions, "wrong": mutant.wrong,
            "models": len(op.models), "unfinished": mutant.unfinished,
            "notes": sorted(mutant.notes)}), flush=True)
    elif args.verbose or mutant.verdict == "survived":
        text = mutant.killer or (f"{len(op_models(mutant))} models, "
                                 f"{mutant.executions} executions, "
                                 f"{mutant.unfinished} searches cut short"
                                 f"{'' if mutant.wrong else ', no effect'}")
        notes = "".join(f"; {n}" for n in sorted(mutant.notes))
        print(f"{mutant.verdict}: {mutant}: {text}{notes}", flush=True)


def op_models(mutant):
    return [m for m in mutant.operation.models
            if modes_for(mutant.kind, m)]


def summary(mutants, uncovered, seconds):
    counts = {}
    for mutant in mutants:
        row = counts.setdefault(mutant.kind, {})
        row[mutant.verdict] = row.get(mutant.verdict, 0) + 1
    verdicts = ("killed", "equivalent", "survived", "void")
    print(f"{'':12}" + "".join(f"{v:>12}" for v in verdicts))
    for kind in sorted(counts):
        print(f"{kind:12}" + "".join(f"{counts[kind].get(v, 0):12}"
                                     for v in verdicts))
    total = {v: sum(row.get(v, 0) for row in counts.values())
             for v in verdicts}
    print(f"{'all':12}" + "".join(f"{total[v]:12}" for v in verdicts))
    print(f"mutants: {len(mutants)} mutants, {uncovered} operations that no "
          f"model comes by, {seconds:.0f} s")


def selected(op, only):
    if not only:
        return True
    return any(f"{op.path}:{op.line}".startswith(o) and
               (o[-1:].isdigit() is False or f"{op.path}:{op.line}" == o)
               or op.function == o for o in only)


def arguments():
    parser = csource.root_argument(__doc__.split("\n")[0])
    parser.add_argument("--build", default="build-dev",
                        help="where the models were built")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", action="append", metavar="PLACE")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20,
                        help="for one mutant in one model and mode")
    parser.add_argument("--limit", type=int, default=5000, metavar="N",
                        help="executions of one mutant in one model and mode")
    parser.add_argument("--survey", type=int, default=2000, metavar="N",
                        help="executions to look for operations in")
    return parser.parse_args()


def main():
    if "--protocol" in sys.argv:
        import protocol_mutants  # which needs this one
        return protocol_mutants.main()
    args = arguments()
    start = time.monotonic()
    report = csource.Report("mutants")
    operations = all_operations(args.root)
    entries = read_entries(args.root, report)
    check_entries(entries, operations, report)
    if args.check:
        return report.finish(len(entries), "entries")
    strays = survey(args.root, model_programs(args.build),
                    100 if args.sample else args.survey, args.jobs, operations)
    for stray in strays:
        report.add(stray.split(":")[0], stray.split(":")[1],
                   f"no operation of the source: {stray}")
    chosen = [op for op in operations if selected(op, args.only)]
    mutants = [Mutant(op, kind) for op in chosen if op.models
               for kind in op.kinds()
               if not args.kind or kind in args.kind]
    uncovered = [op for op in chosen
                 if not op.models and op.order != "relaxed"]
    if args.list:
        for mutant in mutants:
            print(f"{mutant}: {len(op_models(mutant))} models")
        for op in uncovered:
            print(f"{op}: no model")
        return 0
    if args.sample:
        mutants = judge_sample(mutants, entries, args)
    else:
        judge_all(mutants, entries, args)
    if not args.sample:
        judge_models(operations, report)
    judge_entries(mutants, uncovered, operations, entries, args, report)
    summary(mutants, len(uncovered), time.monotonic() - start)
    return 1 if report.count else 0


def judge_models(operations, report):
    """What fails by itself has nothing to say about mutants."""
    for model in sorted({m for op in operations for m in op.models},
                        key=lambda m: (m.program, m.name)):
        for mode, failure in model.modes.items():
            if failure != "nothing":
                report.add(model.program, model.name,
                           f"fails without a mutant: {failure} ({mode})")


def judge_entries(mutants, uncovered, operations, entries, args, report):
    for mutant in mutants:
        op = mutant.operation
        if mutant.verdict == "survived":
            report.add(op.path, op.line,
                       f"{op.function}: {op.text()}: {mutant.kind} survives")
        for entry in entries:
            if mutant.verdict == "killed" and entry.matches(op, mutant.kind) \
                    and "*" not in entry.kinds:
                report.add(EQUIVALENT, entry.line,
                           f"{mutant.kind} is killed by {mutant.killer}")
    if args.sample:
        return
    for op in uncovered:
        if not any(e.matches(op, "uncovered") for e in entries):
            report.add(op.path, op.line,
                       f"{op.function}: no model comes by {op.text()}")
    for entry in entries:
        if "uncovered" in entry.kinds and not args.only and not any(
                entry.matches(op, "uncovered") for op in operations
                if not op.models):
            report.add(EQUIVALENT, entry.line,
                       "a model comes by all of that")


if __name__ == "__main__":
    csource.run(main)
