#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants - the simulator can fail: mistakes in the protocol, and seeds that notice.

mutants.txt has the mistakes, as tools/textmutant.py says.  The heading is the file and the
name of the mutant.  A mutant is compiled into the simulator (tools/overlay.py), which is
run until a seed fails.  "=" behind a mutant is the argument why none may.

    mutants.py --build build-dev             all of them
    mutants.py --build build-dev --sample 4  some; others each day
    mutants.py --build build-dev NAME        the ones with that in the name
    mutants.py --check                       the text of each is in its file
"""
import argparse
import os
import random
import re
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests/harness")]

import csource  # noqa: E402
import overlay  # noqa: E402
import prove  # noqa: E402
import textmutant  # noqa: E402
import trial  # noqa: E402

LIST = "tests/sim/mutants.txt"
SECONDS = 300


class Build(overlay.Build):
    """The simulator has its own objects of what is mutated, and takes the rest of the
    library as it is."""

    def archives(self, word):
        return []


def chosen(entries, args):
    if args.names:
        return [e for e in entries if any(n in e.words[1] for n in args.names)]
    if args.sample:
        day = int(time.time() // 86400)
        decided = [e for e in entries if not e.argument]
        return random.Random(day).sample(decided, args.sample)
    return entries


def program_of(path):
    domain = path.startswith("src/domain/")
    return "tests/sim/sim_domain" if domain else "tests/sim/sim"


def first_failure(build, entry, seeds):
    """The seed that fails, or None."""
    path = entry.words[0]
    text = textmutant.mutated(build.root, path, entry)
    with tempfile.TemporaryDirectory() as folder:
        program = build.make(program_of(path), path, text, folder)
        outcome = trial.run([program, "--seeds", str(seeds)], SECONDS)
    if outcome.status is None:
        return "no end"
    found = re.search(r"sim: seed (\d+)", outcome.output)
    if outcome.status and not found:
        raise overlay.BuildError(outcome.output[-1000:])
    return found.group(1) if outcome.status else None


def check(entries, report):
    for entry in entries:
        try:
            textmutant.mutated(ROOT, entry.words[0], entry)
        except textmutant.Stale as error:
            report.add(LIST, entry.line, f"{entry.words[1]}: {error}")


def judge(entry, seed):
    """True: as it should be."""
    if seed and not entry.argument:
        print(f"{entry.words[1]}: killed by seed {seed}", flush=True)
        return True
    if not seed and entry.argument:
        print(f"{entry.words[1]}: survives.  {entry.argument}", flush=True)
        return True
    print(f"{entry.words[1]} ({LIST}:{entry.line}): " +
          (f"killed by seed {seed}, against its argument" if seed else
           "survives"), flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seeds", type=int, default=10000)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    report = csource.Report("mutants")
    entries = textmutant.parse(LIST, csource.read(ROOT, LIST), report)
    if args.check:
        check(entries, report)
        return report.finish(len(entries))
    build = Build(ROOT, args.build)
    build.update({"tests/sim/sim", "tests/sim/sim_domain"})
    good, counts = True, {"killed": 0, "equivalent": 0}
    for entry in chosen(entries, args):
        try:
            seed = first_failure(build, entry, args.seeds)
        except (textmutant.Stale, overlay.BuildError) as error:
            report.add(LIST, entry.line, f"{entry.words[1]}: {error}")
            continue
        good = judge(entry, seed) and good
        counts["killed" if seed else "equivalent"] += 1
    print(f"{counts['killed']} killed, {counts['equivalent']} may survive")
    if not args.names and not args.sample:
        prove.prove("simulation-mutants", **counts)
    status = report.finish(len(entries))
    return status or (0 if good else 1)


if __name__ == "__main__":
    sys.exit(main())
