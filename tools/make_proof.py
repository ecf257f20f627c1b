#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_proof - docs/PROOF.md, from what "make prove" counted.

  tools/make_proof.py build/proof.jsonl docs/PROOF.md

Each program of the regime appends lines of JSON to the file that SLEY_PROOF
names (docs/HACKING.md, "The page of numbers").  This adds them up.  A line
that has no place on the page is an error: nothing is counted in silence.
Nothing but the standard library.
"""
import argparse
import collections
import datetime
import json
import os
import subprocess
import sys

MODES = ("sc", "tso", "ra")

BLIND = """\
## What this cannot see

- **Sizes.** A model is complete for the threads and operations it states, and
  says in its opening comment which mistakes would need more. Most mistakes of
  this kind need two or three threads and few steps; most is not all.
- **Load buffering.** The memory of the third mode takes the steps of a thread in
  its order. C11 and ARM allow a load to find a store that depends on it; no
  model would see that. Sequentially consistent operations are taken for a little
  stronger than they are; no source of ours has any.
- **What is not an operation.** Assembly, the kernel and the C library are taken
  at their word. A futex is modelled as its manual page says, membarrier() as an
  order between the caller and each other thread.
- **Hardware.** All tests ran on x86-64. The AArch64 build ran under an emulator,
  which has the memory order of its host.
- **Equivalent mutants.** That a mutation changes nothing is an argument written
  by a person, in `tests/model/equivalent.txt`.
- **Faults.** A call fails as the sweep makes it fail, with one error number per
  site. A kernel may have others.
- **Sanitizers.** They see what a run did, not what another run might do, and
  nothing of assembly.
- **Time.** Stress shows the absence of what it did not meet.
"""


def count(number, noun, plural=None):
    if number != 1:
        noun = plural or noun + "s"
    return f"{number:,} {noun}"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"
    yield ""


def by(lines, *keys):
    """The lines by the values of these keys, in the order of appearance."""
    groups = collections.OrderedDict()
    for line in lines:
        key = tuple(line[k] for k in keys)
        groups.setdefault(key if len(keys) > 1 else key[0], []).append(line)
    return groups


def total(lines, key):
    return sum(line.get(key) or 0 for line in lines)


# ---- the parts of the page ---------------------------------------------------

def is_self_test(line):
    return line["program"].startswith("self_")


class Models:
    """Executions explored, per program and mode."""

    kinds = ("model",)

    def __init__(self, lines):
        self.own = [line for line in lines if is_self_test(line)]
        self.lines = [line for line in lines if not is_self_test(line)]

    def summary(self):
        complete = [line for line in self.lines
                    if line["search"] == "complete" and
                    (line["complete"] or line["expect"] != "nothing")]
        scenes = len({(line["program"], line["model"])
                      for line in self.lines})
        return [("models", f"{len(by(self.lines, 'program'))} files, "
                           f"{count(scenes, 'scenario')}"),
                ("executions explored",
                 f"{total(self.lines, 'executions'):,}"),
                ("searches that were complete",
                 f"{len(complete)} of {len(self.lines)}")]

    def cell(self, lines, mode):
        lines = [line for line in lines if line["mode"] == mode]
        if not lines:
            return "–"
        partly = any(not line["complete"] and line["expect"] == "nothing"
                     or line["search"] not in ("complete",)
                     for line in lines)
        return f"{total(lines, 'executions'):,}" + (" *" if partly else "")

    def page(self):
        yield "## Models"
        yield ""
        yield ("Executions that differ by more than the order of steps that "
               "cannot see each other, per file of `tests/model` and memory: "
               "one operation at a time (SC), store buffers (TSO), release "
               "and acquire as in C11 (RA). Each search is complete unless "
               "marked with *.")
        yield ""
        rows = []
        for program, lines in sorted(by(self.lines, "program").items()):
            rows.append([f"`{program}`", len(by(lines, "model")),
                         max(line["threads"] for line in lines)] +
                        [self.cell(lines, mode) for mode in MODES])
        rows.append(["**all**", len(by(self.lines, "program", "model")),
                     ""] + [self.cell(self.lines, mode) for mode in MODES])
        yield from table(["model", "scenarios", "threads", "SC", "TSO", "RA"],
                         rows)
        yield from self.incomplete()
        if self.own:
            yield (f"The explorer itself: {len(by(self.own, 'model'))} self "
                   f"tests in {count(len(by(self.own, 'program')), 'file')}, "
                   f"{total(self.own, 'executions'):,} executions.")
            yield ""

    def incomplete(self):
        rows = []
        for line in self.lines:
            if line["search"] == "complete" and (
                    line["complete"] or line["expect"] != "nothing"):
                continue
            how = {"random": f"{line['executions']:,} at random",
                   "preemptions": f"at most {line['bound']} preemptions",
                   "delays": f"at most {line['bound']} delays"}.get(
                       line["search"], "cut off")
            rows.append([f"`{line['program']}`",
                         line["model"].replace("_", " "),
                         line["mode"].upper(), how])
        if rows:
            yield "Not complete:"
            yield ""
            yield from table(["model", "scenario", "memory", "explored"],
                             rows)


class Mutants:
    """Weakened operations, and who noticed."""

    kinds = ("mutant",)

    def __init__(self, lines):
        self.lines = lines

    def verdicts(self, lines):
        found = collections.Counter(line["verdict"] for line in lines)
        return [found[v] for v in ("killed", "equivalent", "survived",
                                   "open")]

    def summary(self):
        killed, equivalent, survived, unjudged = self.verdicts(self.lines)
        return [("mutants", f"{len(self.lines)}: {killed} killed, "
                            f"{equivalent} argued equivalent, "
                            f"{survived} survived, {unjudged} open")]

    def page(self):
        yield "## Mutants"
        yield ""
        yield ("Each ordered operation was weakened, one at a time, and the "
               "models that reach it had to notice: the order relaxed, or "
               "one half of it; a read-modify-write torn into a load and a "
               "store; a compare-exchange that always succeeds; a store that "
               "is late by one step; a wake-up or a barrier left out.  And "
               "steps of each protocol were changed: a second look dropped, "
               "two stores swapped, a loop run once, a step left out.  A "
               "mutant is *open* if no model notices and no argument says "
               "why: tests/model/protocol_open.txt lists them.")
        yield ""
        for key, name in (("mutation", "mutation"), ("file", "file")):
            rows = [[f"`{value}`", len(lines)] + self.verdicts(lines)
                    for value, lines in sorted(self.by_key(key).items())]
            yield from table([name, "mutants", "killed", "equivalent",
                              "survived", "open"], rows)

    def by_key(self, key):
        lines = [dict(line, file=line["site"].rsplit(":", 1)[0])
                 for line in self.lines]
        return by(lines, key)


class RowMutants:
    """Rows of CONFORMANCE.md that were broken, and whether a test failed."""

    kinds = ("row-mutant",)

    def __init__(self, lines):
        self.lines = lines

    def summary(self):
        if not self.lines:
            return []
        killed = [line for line in self.lines if line["verdict"] == "killed"]
        rows = len({line["row"] for line in self.lines})
        return [("rows of CONFORMANCE.md, each broken once",
                 f"{rows}: {len(self.lines)} mutants, {len(killed)} killed")]

    def page(self):
        alive = [[line["row"], f"`{line['file']}`", line["verdict"]]
                 for line in self.lines if line["verdict"] != "killed"]
        if alive:
            yield "## Rows without a test that sees it"
            yield ""
            yield from table(["row", "file", "verdict"], alive)


class Faults:
    """Calls that were made to fail."""

    kinds = ("fault", "fault-sites")

    def __init__(self, lines):
        self.trials = [line for line in lines if line["kind"] == "fault"]
        self.sites = [line for line in lines if line["kind"] == "fault-sites"]

    def summary(self):
        rows = [("faults injected", f"{total(self.trials, 'trials'):,} in "
                 f"{len(by(self.trials, 'scenario'))} scenarios")]
        if self.sites:
            # Some sites do not exist in all builds.
            last = max(self.sites, key=lambda line: line["hit"])
            rows.append(("fallible call sites",
                         f"{last['registered']}: {last['hit']} failed at "
                         f"least once, {last['unreachable']} argued "
                         "unreachable"))
        return rows

    def page(self):
        yield "## Faults"
        yield ""
        yield ("The n-th fallible call of a scenario fails, once and from "
               "then on for ever, for each n until the scenario ends without "
               "having met it. No crash, no hang, no leak, no loss, the right "
               "error.")
        yield ""
        rows = [[scenario.replace("_", " "),
                 ", ".join(by(lines, "build")),
                 max(line["sites"] for line in lines),
                 f"{total(lines, 'once'):,}", f"{total(lines, 'forever'):,}"]
                for scenario, lines in by(self.trials, "scenario").items()]
        yield from table(["scenario", "builds", "sites", "failed once",
                          "failed for ever"], rows)


class Runs:
    """Programs that ran under watch: sanitizers, stress, chaos."""

    kinds = ("sanitizer", "memcheck", "stress", "chaos", "migration",
             "simulation", "simulation-domain", "simulation-mutants")

    def __init__(self, lines):
        self.kind = by(lines, "kind")

    def of(self, kind):
        return self.kind.get(kind, [])

    def summary(self):
        rows = []
        for line in self.of("sanitizer"):
            rows.append((f"tests under {line['build']}",
                         f"{line['tests']}, no report, no suppression"))
        if self.of("memcheck"):
            rows.append(("programs under memcheck",
                         f"{len(self.of('memcheck'))}, "
                         f"{total(self.of('memcheck'), 'errors')} errors"))
        if self.of("stress"):
            rows.append(("stress", f"{total(self.of('stress'), 'seconds'):,.0f}"
                         " s, " f"{total(self.of('stress'), 'operations'):,}"
                         " operations"))
        if self.of("chaos"):
            rows.append(("tests under chaos",
                         f"{total(self.of('chaos'), 'tests'):,} with "
                         f"{len(by(self.of('chaos'), 'seed'))} seeds"))
        if self.of("migration"):
            rows.append(("forced migrations",
                         f"{total(self.of('migration'), 'migrations'):,} in "
                         f"{len(self.of('migration'))} builds"))
        return rows + self.simulations()

    def simulations(self):
        rows, done = [], self.of("simulation")
        if done:
            rows.append(("clients and daemons, simulated",
                         f"{total(done, 'seeds'):,} seeds, "
                         f"{total(done, 'requests'):,} requests, "
                         f"{total(done, 'kills'):,} kills, "
                         f"{total(done, 'lives'):,} lives of rings"))
        done = self.of("simulation-domain")
        if done:
            rows.append(("domains, simulated",
                         f"{total(done, 'seeds'):,} seeds, "
                         f"{total(done, 'members'):,} members, "
                         f"{total(done, 'kills'):,} kills, "
                         f"{total(done, 'stops'):,} stops, "
                         f"{total(done, 'ejected'):,} thrown out, "
                         f"{total(done, 'gives'):,} cores given"))
        for line in self.of("simulation-mutants"):
            rows.append(("mistakes in their protocol",
                         f"{line['killed'] + line['equivalent']}: "
                         f"{line['killed']} noticed, {line['equivalent']} "
                         "argued harmless"))
        return rows

    def page(self):
        if self.of("stress"):
            yield "## Stress"
            yield ""
            rows = [[f"`{program}`", ", ".join(by(lines, "build")),
                     f"{total(lines, 'seconds'):,.1f}",
                     f"{total(lines, 'operations'):,}"]
                    for program, lines in sorted(
                        by(self.of("stress"), "program").items())]
            yield from table(["program", "builds", "seconds", "operations"],
                             rows)
        if self.of("migration"):
            yield "## Migrations"
            yield ""
            yield ("A task is moved to another thread again and again, and "
                   "looks each time at `errno`, at thread-locals and at its "
                   "own storage.")
            yield ""
            rows = [[line["compiler"], f"`{line['flags']}`",
                     f"{line['migrations']:,}"]
                    for line in self.of("migration")]
            yield from table(["compiler", "flags", "migrations"], rows)


class Reliability:
    """What was done to processes under load, and what came of it."""

    kinds = ("reliability",)

    def __init__(self, lines):
        self.lines = lines

    def summary(self):
        return [(f"{what}, under load", f"{total(lines, 'count'):,}")
                for what, lines in by(self.lines, "what").items()]

    def figures(self, figures):
        return "; ".join(f"{name} {value:,}" if isinstance(value, int)
                         else f"{name} {value:,.2f}"
                         for name, value in figures.items())

    def page(self):
        if not self.lines:
            return
        yield "## Reliability"
        yield ""
        yield ("Processes that work are killed, stopped, replaced or lied "
               "to, at random moments. A run that breaks a promise fails and "
               "has no row here.")
        yield ""
        rows = [[line["what"], line.get("build", ""),
                 f"{line['count']:,}", self.figures(line["figures"]),
                 line.get("seed", "")] for line in self.lines]
        yield from table(["what", "build", "how often", "figures", "seed"],
                         rows)


class Named:
    """Hazards and surroundings: a name each."""

    kinds = ("hazard", "limit")

    def __init__(self, lines):
        # Skipped ones have shown nothing.
        self.kind = by([line for line in lines
                        if line.get("verdict") in (None, "passed")], "kind")

    def of(self, kind):
        return list(by(self.kind.get(kind, []), "name").values())

    def summary(self):
        return [(title, len(self.of(kind))) for kind, title in
                (("hazard", "hazards of fibers, each with its test"),
                 ("limit", "limits and hostile surroundings"))
                if self.of(kind)]

    def page(self):
        if self.of("hazard"):
            yield "## Hazards of fibers"
            yield ""
            names = sorted(lines[0]["name"] for lines in self.of("hazard"))
            yield "; ".join(n.replace("_", " ") for n in names) + "."
            yield ""
        if self.of("limit"):
            yield "## Surroundings"
            yield ""
            yield from table(["surrounding", "sley"],
                             [[lines[0]["name"].replace("_", " "),
                               lines[0].get("result", "works")]
                              for lines in self.of("limit")])


PARTS = (Models, Mutants, RowMutants, Faults, Runs, Reliability, Named)


# ---- the page ----------------------------------------------------------------

def read(path):
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
                line["kind"]
            except (ValueError, KeyError, TypeError):
                sys.exit(f"make_proof: {path}:{number}: not a line of ours")
            lines.append(line)
    known = {kind for part in PARTS for kind in part.kinds}
    for line in lines:
        if line["kind"] not in known:
            sys.exit(f"make_proof: nothing is known of a {line['kind']!r}")
    return lines


def commit():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"


def page(lines, when, version):
    parts = [part([line for line in lines if line["kind"] in part.kinds])
             for part in PARTS]
    yield "# Proof, in numbers"
    yield ""
    yield (f"Added up on {when}, for commit {version}, from what the programs "
           "of `make prove` counted. Nothing here was typed by hand; `make "
           "prove` writes it again. How each method works is in "
           "[HACKING.md](HACKING.md).")
    yield ""
    yield from table(["what", "how much"],
                     [row for part in parts for row in part.summary()])
    for part in parts:
        yield from part.page()
    yield BLIND.rstrip("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("lines")
    parser.add_argument("page")
    parser.add_argument("--date", default=str(datetime.date.today()))
    parser.add_argument("--commit", default=None)
    args = parser.parse_args()
    lines = read(args.lines)
    if not lines:
        sys.exit(f"make_proof: {args.lines}: nothing was counted")
    text = "\n".join(page(lines, args.date, args.commit or commit())) + "\n"
    new = args.page + ".new"
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, args.page)


if __name__ == "__main__":
    main()
