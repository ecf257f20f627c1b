#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_plot_bench - the picture has each row, at the right place."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import plot_bench

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "plot_bench.py")


def entry(row, peer, value, **more):
    return {"row": row, "about": "one <turn> & back", "peer": peer,
            "workers": 1, "metric": "ns", "value": value, "n": 3,
            "min": value * 0.9, "max": value * 1.1} | more


RESULTS = [
    entry("swap", "sley", 10.0),
    entry("swap", "slow", 100.0, ratio=0.1, limit=20.0, held=True),
    entry("swap", "quick", 5.0, ratio=2.0, limit=5.0, held=False),
    entry("swap", "other", 20.0, ratio=0.5),
    entry("rest", "sley", 0.5, metric="cpu_ms", limit=1.0, held=True),
    entry("lone", "sley", 7.0),
    entry("swap", "sley", 4200.0, workers=2),
    entry("swap", "slow", 8400.0, workers=2, ratio=0.5),
]


class Plot(unittest.TestCase):
    def draw(self, results):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "r.jsonl")
            target = os.path.join(folder, "r.svg")
            with open(source, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(r) + "\n" for r in results)
            done = subprocess.run(
                [sys.executable, TOOL, source, target, "--machine", "here"],
                text=True, check=False, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            if done.returncode:
                return done.stdout, None
            return done.stdout, ElementTree.parse(target).getroot()

    def test_each_row_is_there(self):
        output, root = self.draw(RESULTS)
        self.assertIsNotNone(root, output)
        texts = ["".join(node.itertext()) for node in root.iter()
                 if node.tag.endswith("}text")]
        for text in ("swap1 worker", "2 workers", "rest1 worker, CPU time",
                     "slow", "quick", "other", "its own bar", "here",
                     "one <turn> & back", "bar held (2)", "bar missed (1)",
                     "\u2264 0.20 held", "\u2264 1.00 missed", "10.0 ns",
                     "100 ns", "4.20 \u00b5s", "0.10", "2.00", "0.50"):
            self.assertIn(text, texts)
        self.assertNotIn("lone1 worker", texts)

    def test_nothing_to_compare(self):
        output, root = self.draw([entry("lone", "sley", 7.0)])
        self.assertIsNone(root)
        self.assertIn("run sley-bench with --peers", output)

    def test_the_axis(self):
        axis = plot_bench.Axis([0.13, 3.0])
        self.assertEqual(axis.ticks(), [0.1, 0.2, 0.5, 1.0, 2.0, 5.0])
        places = [axis.place(tick) for tick in axis.ticks()]
        self.assertEqual(places, sorted(places))
        self.assertEqual(places[0], plot_bench.PLOT_LEFT)
        self.assertEqual(places[-1], plot_bench.PLOT_RIGHT)
        self.assertEqual(axis.place(1e-5), plot_bench.PLOT_LEFT)

    def test_a_long_axis_has_powers_of_ten(self):
        axis = plot_bench.Axis([0.0011, 30.0])
        self.assertEqual(axis.ticks(), [0.001, 0.01, 0.1, 1.0, 10.0])

    def test_more_gflops_are_further_left(self):
        ours = entry("factor", "sley", 120.0, metric="gflops")
        theirs = entry("factor", "other", 100.0, metric="gflops", limit=80.0,
                       held=True)
        line = plot_bench.Line(ours, theirs)
        self.assertAlmostEqual(line.ratio, 1.2)
        self.assertAlmostEqual(line.at(line.ratio), 1 / 1.2)
        self.assertLess(line.at(line.ratio), line.at(line.limit))
        self.assertEqual(list(line.spread), sorted(line.spread))
        _, root = self.draw([ours, theirs])
        texts = ["".join(node.itertext()) for node in root.iter()]
        self.assertIn("\u2265 0.80 held", texts)

    def test_units(self):
        for metric, value, text in (("ns", 1.8997, "1.90 ns"),
                                    ("p50_ns", 34025, "34.0 \u00b5s"),
                                    ("bytes", 4484, "4.38 KiB"),
                                    ("busy_pct", 1.4, "1.40 %"),
                                    ("2k_64_gflops", 91.2, "91.2 GF/s"),
                                    ("x", 3, "3.00")):
            self.assertEqual(plot_bench.quantity(metric, value), text)


if __name__ == "__main__":
    unittest.main()
