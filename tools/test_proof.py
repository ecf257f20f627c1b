#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_proof - the page adds up what was counted, and nothing else."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "make_proof.py")


def model(program, name, mode, executions, **more):
    return {"kind": "model", "program": program, "model": name, "mode": mode,
            "search": "complete", "bound": 0, "threads": 2,
            "executions": executions, "redundant": 0, "steps": 10,
            "complete": True, "expect": "nothing", "found": "nothing",
            "seconds": 0.5} | more


def mutant(site, mutation, verdict):
    return {"kind": "mutant", "site": site, "mutation": mutation,
            "killed_by": None, "verdict": verdict, "executions": 3}


LINES = [
    model("lf_ring", "one_thief", "sc", 1000),
    model("lf_ring", "one_thief", "ra", 234),
    model("lf_ring", "two_thieves", "sc", 2, threads=3),
    model("core_idle", "big", "tso", 55, search="preemptions", bound=3),
    model("self_weak", "litmus", "ra", 7, expect="race", complete=False),
    mutant("src/lf/ring.h:10", "relaxed", "killed"),
    mutant("src/lf/ring.h:20", "split", "equivalent"),
    {"kind": "row-mutant", "row": "M7", "file": "src/core/sched/place.c",
     "verdict": "killed", "why": "m07_x"},
    {"kind": "row-mutant", "row": "S4", "file": "src/graph/access/access.c",
     "verdict": "survived", "why": ""},
    {"kind": "fault", "scenario": "start_up", "build": "gcc", "sites": 9,
     "trials": 18, "once": 9, "forever": 9, "tolerated": 1, "seconds": 1.0},
    {"kind": "fault-sites", "registered": 12, "hit": 11, "unreachable": 1},
    {"kind": "sanitizer", "build": "asan", "tests": 85, "seconds": 1.5},
    {"kind": "stress", "program": "chan_stress", "build": "tsan",
     "seconds": 2.0, "operations": 4000},
    {"kind": "simulation", "seeds": 2000, "requests": 9000, "kills": 70,
     "lives": 300},
    {"kind": "simulation", "seeds": 1000, "requests": 1000, "kills": 1,
     "lives": 5},
    {"kind": "simulation-domain", "seeds": 3000, "members": 9000,
     "kills": 20, "stops": 10, "ejected": 5, "gives": 100000},
    {"kind": "simulation-domain", "seeds": 1000, "members": 1000,
     "kills": 2, "stops": 1, "ejected": 0, "gives": 1000},
    {"kind": "simulation-mutants", "killed": 8, "equivalent": 2},
    {"kind": "reliability", "what": "clients killed", "build": "gcc",
     "seed": 42, "count": 10000,
     "figures": {"lost": 0, "acknowledged": 12345, "reclaim p99 ms": 4.256}},
    {"kind": "reliability", "what": "clients killed", "build": "asan",
     "seed": 43, "count": 500, "figures": {"lost": 0}},
    {"kind": "reliability", "what": "hosts killed", "count": 7, "figures": {}},
    {"kind": "limit", "name": "no_membarrier", "result": "works"},
    {"kind": "limit", "name": "no_memory", "verdict": "passed",
     "result": "says why"},
    {"kind": "limit", "name": "no_root", "verdict": "skipped"},
]


class Proof(unittest.TestCase):
    def write(self, texts):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "p.jsonl")
            target = os.path.join(folder, "PROOF.md")
            with open(source, "w", encoding="utf-8") as file:
                file.writelines(text + "\n" for text in texts)
            done = subprocess.run(
                [sys.executable, TOOL, source, target, "--date", "2026-01-02",
                 "--commit", "abc"], text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                return done.stdout, None
            with open(target, encoding="utf-8") as file:
                return done.stdout, file.read()

    def page(self, lines=None):
        output, text = self.write([json.dumps(x) for x in lines or LINES])
        self.assertIsNotNone(text, output)
        return text

    def test_it_is_dated(self):
        self.assertIn("on 2026-01-02, for commit abc", self.page())

    def test_executions_are_added_up_per_memory(self):
        self.assertIn("| `lf_ring` | 2 | 3 | 1,002 | – | 234 |", self.page())

    def test_self_tests_are_not_models(self):
        text = self.page()
        self.assertIn("| models | 2 files, 3 scenarios |", text)
        self.assertIn("| searches that were complete | 3 of 4 |", text)
        self.assertIn("1 self tests in 1 file, 7 executions", text)

    def test_what_is_not_complete_is_marked_and_listed(self):
        text = self.page()
        self.assertIn("| `core_idle` | 1 | 2 | – | 55 * | – |", text)
        self.assertIn("| `core_idle` | big | TSO | at most 3 preemptions |",
                      text)

    def test_mutants_are_counted_by_verdict(self):
        text = self.page()
        self.assertIn("2: 1 killed, 1 argued equivalent, 0 survived, 0 open",
                      text)
        self.assertIn("| `src/lf/ring.h` | 2 | 1 | 1 | 0 |", text)

    def test_rows_are_counted_and_survivors_are_listed(self):
        text = self.page()
        self.assertIn("each broken once | 2: 2 mutants, 1 killed |", text)
        self.assertIn("| S4 | `src/graph/access/access.c` | survived |", text)

    def test_faults_and_sites(self):
        text = self.page()
        self.assertIn("| start up | gcc | 9 | 9 | 9 |", text)
        self.assertIn("12: 11 failed at least once, 1 argued unreachable",
                      text)

    def test_runs_are_summed(self):
        text = self.page()
        self.assertIn("| tests under asan | 85, no report", text)
        self.assertIn("| stress | 2 s, 4,000 operations |", text)
        self.assertIn("| no membarrier | works |", text)
        self.assertIn("| no memory | says why |", text)

    def test_simulations_are_summed(self):
        text = self.page()
        self.assertIn("| clients and daemons, simulated | 3,000 seeds, 10,000 "
                      "requests, 71 kills, 305 lives of rings |", text)
        self.assertIn("| domains, simulated | 4,000 seeds, 10,000 members, "
                      "22 kills, 11 stops, 5 thrown out, 101,000 cores given "
                      "|", text)
        self.assertIn("| 10: 8 noticed, 2 argued harmless |", text)

    def test_reliability_is_a_row_with_its_figures(self):
        text = self.page()
        self.assertIn("| clients killed, under load | 10,500 |", text)
        self.assertIn("| clients killed | gcc | 10,000 | lost 0; acknowledged "
                      "12,345; reclaim p99 ms 4.26 | 42 |", text)
        self.assertIn("| clients killed | asan | 500 | lost 0 | 43 |", text)
        self.assertIn("| hosts killed |  | 7 |  |  |", text)

    def test_reliability_without_a_count_is_an_error(self):
        line = {"kind": "reliability", "what": "x", "figures": {}}
        self.assertIsNone(self.write([json.dumps(line)])[1])

    def test_what_was_skipped_does_not_count(self):
        self.assertNotIn("no root", self.page())

    def test_it_says_what_it_cannot_see(self):
        self.assertIn("## What this cannot see", self.page())

    def test_an_unknown_kind_is_an_error(self):
        output, text = self.write([json.dumps({"kind": "rumour"})])
        self.assertIsNone(text)
        self.assertIn("rumour", output)

    def test_rubbish_is_an_error(self):
        output, text = self.write(["{"])
        self.assertIsNone(text)
        self.assertIn("p.jsonl:1", output)

    def test_nothing_is_an_error(self):
        self.assertIsNone(self.write([])[1])


if __name__ == "__main__":
    unittest.main()
