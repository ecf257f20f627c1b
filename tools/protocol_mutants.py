#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""protocol_mutants - mistakes in protocols: some model must notice.

mutants.py makes orders and single operations wrong.  This is the other half: a
step is left out, two change places, a second look is forgotten, something is
tried once instead of again and again, or decided by an old value.  It runs as
"mutants.py --protocol".

Most mutants are made by protocol_generate.py.  What a machine cannot think of is
written down in tests/model/protocol.txt, as textmutant.py says:

    src/core/sched/idle.c idle_park swap
     	sit_down(idle, seat, searching);
    -	if (look->ask)
    -		look->ask(look->arg);
     	if (idle->membarrier)
     		os_membarrier();
    +	if (look->ask)
    +		look->ask(look->arg);

That is file, function and kind, and perhaps the models to try.  The same list says
what survives and may: "=" and the argument, behind a mutant of its own, or behind
the name of one that was generated, with the text that it changes (#2: the second
one of that text in the function; * for all of a kind):

    src/lf/ring.h ring_take recheck (head==tail)
    = The compare-and-swap that follows fails in that case.

and which models are tried for a file, in place of those that are named after it
and those that take least to build:

    models src/core/sched/idle.c core_idle core_search core_steal

protocol_open.txt beside that list has the generated mutants that survive, and
that nobody has gone through yet, a line for each: file, function, kind, text.  They
are "open": no error, and not tried unless --open asks for that.  With --open one that
is killed has to leave the list.  The list may only become shorter.

A mutant is compiled into each of them (overlay.py), which is run for a few
executions of each scene.  If nothing fails, a trap is put in the place of the change:
a place that no model comes by is not explored, and the mutant is "unreached".  Whether
it should be is what mutants.py decides, by operation.  Else the models run the scenes
that are left out every day, and then more of the others, until something fails.
"""
import fnmatch
import json
import os
import re
import tempfile
import threading
import time

import csource
import mutants
import overlay
import protocol_generate
import textmutant
import trial

LIST = "tests/model/protocol.txt"
OPEN = "tests/model/protocol_open.txt"
KINDS = protocol_generate.KINDS + ("old",)
SOURCES = ("src/actor/*", "src/core/*", "src/fiber/*", "src/graph/*", "src/io/*",
           # Not the shells, which make system calls: tests/sim, tests/conformance.
           "src/ipc/client_source.c", "src/ipc/client_wait.c",
           "src/ipc/handover.h", "src/ipc/quota.h",
           "src/ipc/ring_set.h",
           "src/shm/*", "src/stream/*", "src/subprocess/*",
           "src/lf/*", "src/mem/*", "src/route/*", "src/sync/*",
           "src/parallel/*",
           "include/sley/*.h")
QUICK = ("--limit", "150")    # of each scene in each memory
LONGER = ("--limit", "2000")
SLOW = ("--slow",)            # scenes that "make test" leaves out
MODELS_MAX = 5


class Mutant:
    """Generated, or written down."""

    def __init__(self, path, function, kind, text, apply):
        self.path, self.function, self.kind = path, function, kind
        self.text = text        # squeezed; "" if it was written down
        self.apply = apply      # source -> source
        self.probe = None       # source -> source that stops there
        self.line = 0           # in the list, if it was written down
        self.models = []
        self.argument = ""
        self.verdict = None     # killed, equivalent, survived, open,
        #                         unreached; undecided: of a sample
        self.killer = None
        self.tried = []

    def __str__(self):
        place = f"{self.path} {self.function} {self.kind}"
        if self.line:
            return f"{place} ({LIST}:{self.line})"
        return f"{place} {self.text}"


# ---- the list ----------------------------------------------------------------

class Argument:
    """Of a generated mutant: why it may survive."""

    def __init__(self, entry):
        self.line = entry.line
        self.path, self.function, self.kind, text = entry.words[:4]
        self.text, _, self.nth = text.partition("#")
        self.argument = entry.argument
        self.used = False

    def matches(self, path, generated):
        return (path == self.path and generated.kind == self.kind and
                self.function in ("*", generated.function) and
                self.text in ("*", generated.text) and
                self.nth in ("", str(generated.nth)))


def read_open(root):
    """Each open mutant, as str() has it, and its line."""
    try:
        lines = csource.read(root, OPEN).split("\n")
    except FileNotFoundError:
        return {}
    return {text: nr for nr, text in enumerate(lines, 1)
            if text and not text.startswith("#")}


class List:
    def __init__(self, root, report):
        self.models, self.written, self.arguments = {}, [], []
        self.open = read_open(root)
        try:
            text = csource.read(root, LIST)
        except FileNotFoundError:
            return
        for entry in textmutant.parse(LIST, text, report):
            self.take(root, entry, report)

    def take(self, root, entry, report):
        words = entry.words
        if words[0] == "models" and len(words) > 2:
            self.models[words[1]] = words[2:]
        elif len(words) < 3 or words[2] not in KINDS:
            report.add(LIST, entry.line, "not: file, function, kind")
        elif entry.changes:
            mutant = Mutant(*words[:3], "", entry.apply)
            mutant.line, mutant.models = entry.line, words[3:]
            mutant.argument = entry.argument
            self.written.append(mutant)
            self.check(root, mutant, entry, report)
        elif len(words) == 4:
            self.arguments.append(Argument(entry))
            if len(entry.argument.split()) < 3:
                report.add(LIST, entry.line, "no argument")
        else:
            report.add(LIST, entry.line, "changes nothing")

    def is_open(self, mutant):
        return not mutant.line and str(mutant) in self.open

    def check(self, root, mutant, entry, report):
        """It can be applied, and is where it says."""
        try:
            text = textmutant.mutated(root, mutant.path, entry)
        except textmutant.Stale as stale:
            report.add(LIST, entry.line, f"{mutant.path}: {stale}")
            return
        before = csource.read(root, mutant.path).split("\n")
        after = text.split("\n")
        first = next(i for i, pair in enumerate(zip(before, after), 1)
                     if pair[0] != pair[1])
        names = [n for n, start, end, _ in
                 csource.functions("\n".join(before)) if start <= first <= end]
        if mutant.function not in names:
            report.add(LIST, entry.line, f"not in {mutant.function}()")


def generated(root, paths, arguments):
    found = []
    for path in paths:
        for made in protocol_generate.generate(path, csource.read(root, path)):
            mutant = Mutant(path, made.function, made.kind, made.text +
                            (f"#{made.nth}" if made.nth > 1 else ""),
                            made.apply)
            mutant.probe = probe_of(made)
            for argument in arguments:
                if argument.matches(path, made):
                    argument.used = True
                    mutant.argument = argument.argument
            found.append(mutant)
    return found


def probe_of(made):
    start, end, _ = min(made.edits)
    if made.kind in ("swap", "omit"):
        new = "__builtin_trap();"
    elif made.kind == "once":
        new = "for (; (__builtin_trap(), false);)"
    else:
        new = "(__builtin_trap(), false)"

    def apply(source):
        rest = source[end:]
        if made.kind == "once" and rest.startswith(";"):
            return source[:start] + "while ((__builtin_trap(), 0))" + rest
        return source[:start] + new + rest
    return apply


# ---- running -------------------------------------------------------------------

class Runner:
    def __init__(self, build, args, listed):
        self.build, self.args, self.listed = build, args, listed
        self.programs = sorted(
            o for o in build.commands
            if re.fullmatch(r"tests/model/model_\w+", o) and build.parts(o)
            and not os.path.basename(o).startswith("model_self_"))
        self.sources = {p: set().union(*(build.deps.get(o, ())
                                         for o in build.objects(p)))
                        for p in self.programs}
        self.lock = threading.Lock()

    def paths(self):
        """All sources of the models that may have a protocol."""
        every = set().union(*self.sources.values()) if self.sources else ()
        return sorted(p for p in every
                      if any(fnmatch.fnmatch(p, s) for s in SOURCES))

    def programs_for(self, mutant):
        named = mutant.models or self.listed.models.get(mutant.path)
        if named:
            return [f"tests/model/model_{n}" for n in named]
        parts = re.sub(r"\.\w+$", "", mutant.path).split("/")
        stem = f"{parts[1]}_{parts[-1]}"  # src/core/wait/timer.c: core_timer
        having = [p for p in self.programs if mutant.path in self.sources[p]]
        own = [p for p in having if f"_{stem}" in p]
        rest = sorted((p for p in having if p not in own),
                      key=lambda p: len(self.build.affected(p, mutant.path)))
        return (own + rest)[:MODELS_MAX]

    def fails(self, program, *search, seconds):
        """What fails in a model program; None: nothing does."""
        outcome = trial.run([program, "--sites", *search], seconds,
                            until=FAILS, while_it_speaks=True, alone=True)
        for line in outcome.output.split("\n"):
            if FAILS.match(line):
                fields = line.split("\t")
                return f"{fields[1]} ({fields[2]}): {fields[5]}"
        if outcome.status is None and search[:2] == QUICK:
            return "does not end"
        if outcome.status not in (0, None):
            return f"status {outcome.status}"
        return None

    def first_failure(self, mutant, apply, searches):
        source = csource.read(self.args.root, mutant.path)
        with tempfile.TemporaryDirectory(prefix="sley-model-") as folder:
            made = {}
            for search in searches:
                for program in self.programs_for(mutant):
                    if program not in made:
                        made[program] = self.build.make(
                            program, mutant.path, apply(source), folder)
                    why = self.fails(made[program], *search,
                                     seconds=self.args.seconds)
                    if why:
                        return f"{os.path.basename(program)} {why}"
        return None

    def judge(self, mutant):
        if self.listed.is_open(mutant) and not self.args.open:
            mutant.verdict = "open"
            return mutant
        quickly = mutant.argument or self.args.sample and not mutant.line
        try:
            mutant.killer = self.first_failure(mutant, mutant.apply, (QUICK,))
            if mutant.killer:
                mutant.verdict = "killed"
            elif mutant.argument:
                mutant.verdict = "equivalent"
            elif quickly:
                mutant.verdict = "undecided"  # that was too quick to say so
            elif mutant.probe and not self.first_failure(
                    mutant, mutant.probe, (QUICK,)):
                mutant.verdict = "unreached"
            else:
                self.judge_longer(mutant)
        except (overlay.BuildError, textmutant.Stale) as error:
            mutant.verdict, mutant.killer = "error", str(error)
        return mutant


    def judge_longer(self, mutant):
        mutant.killer = self.first_failure(mutant, mutant.apply,
                                           (QUICK + SLOW, LONGER))
        if mutant.killer:
            mutant.verdict = "killed"
        else:
            mutant.verdict = "open" if self.listed.is_open(mutant) \
                else "survived"


FAILS = re.compile(r"model\t(?:[^\t]*\t){4}(?!nothing|unstable)")


# ---- telling ---------------------------------------------------------------------

def record(mutant):
    path = os.environ.get("SLEY_PROOF")
    if path and mutant.verdict in ("killed", "equivalent", "survived", "open"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({
                "kind": "mutant", "site": f"{mutant.path}:0",
                "function": mutant.function, "operation": mutant.text,
                "mutation": mutant.kind, "killed_by": mutant.killer,
                "verdict": mutant.verdict, "executions": 0}) + "\n")


def show(mutant, args, listed, report):
    if mutant.verdict in ("survived", "error"):
        report.add(mutant.path, mutant.function,
                   f"{mutant} {mutant.verdict}: {mutant.killer or ''}")
    elif mutant.verdict == "killed" and listed.is_open(mutant):
        report.add(OPEN, listed.open[str(mutant)],
                   f"is killed by {mutant.killer}: take it off the list")
    elif mutant.verdict == "killed" and mutant.argument:
        report.add(mutant.path, mutant.function,
                   f"{mutant} is argued to be equivalent, and is killed by "
                   f"{mutant.killer}")
    elif args.verbose:
        print(f"{mutant.verdict}: {mutant}: {mutant.killer}", flush=True)
    record(mutant)


def summary(judged, seconds):
    verdicts = ("killed", "equivalent", "survived", "open", "unreached",
                "error")
    print(f"{'':12}" + "".join(f"{v:>12}" for v in verdicts))
    for kind in KINDS + ("all",):
        some = [m for m in judged if kind in (m.kind, "all")]
        print(f"{kind:12}" + "".join(
            f"{sum(m.verdict == v for m in some):12}" for v in verdicts))
    print(f"protocol_mutants: {len(judged)} mutants, {seconds:.0f} s")


def arguments():
    parser = csource.root_argument(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--protocol", action="store_true")
    parser.add_argument("--build", default="build-dev")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--written", action="store_true",
                        help="only what is written down")
    parser.add_argument("--open", action="store_true",
                        help="also those that are known to survive")
    parser.add_argument("--only", action="append", metavar="FILE[:FUNCTION]")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60,
                        help="for one mutant in one scene and memory")
    return parser.parse_args()


def selected(mutant, args):
    if args.kind and mutant.kind not in args.kind:
        return False
    return not args.only or any(
        o in (mutant.path, f"{mutant.path}:{mutant.function}",
              mutant.function) for o in args.only)


def sample(chosen, listed, number):
    """Spread over all of them, another part each day.  What is written down
    is searched for as long as in a full run."""
    chosen = [m for m in chosen
              if not m.argument and not listed.is_open(m)]
    step = max(1, len(chosen) // number)
    return chosen[int(time.time() // 86400) % step::step][:number]


def check_list(listed, every, report):
    """Each line of the list is about some mutant."""
    for argument in listed.arguments:
        if not argument.used:
            report.add(LIST, argument.line, "matches nothing")
    names = {str(m) for m in every}
    for name, line in listed.open.items():
        if name not in names:
            report.add(OPEN, line, "there is no such mutant any more")


def main():
    args = arguments()
    begun = time.monotonic()
    report = csource.Report("protocol_mutants")
    listed = List(args.root, report)
    if args.check:
        paths = [p for p in csource.files(args.root, *SOURCES)
                 if p.endswith((".c", ".h"))]
        every = generated(args.root, paths, listed.arguments)
        check_list(listed, every, report)
        return report.finish(len(every) + len(listed.written), "mutants")
    runner = Runner(overlay.Build(args.root, args.build), args, listed)
    runner.build.update(runner.programs)
    every = listed.written + ([] if args.written else generated(
        args.root, runner.paths(), listed.arguments))
    chosen = [m for m in every if selected(m, args)]
    if args.sample:
        chosen = sample(chosen, listed, args.sample)
    if args.list:
        for mutant in chosen:
            print(mutant)
        return 0
    with trial.in_parallel(args.jobs) as pool:
        for mutant in pool.map(runner.judge, chosen):
            show(mutant, args, listed, report)
    summary(chosen, time.monotonic() - begun)
    return report.finish(len(chosen), "mutants")


if __name__ == "__main__":
    csource.run(main)
