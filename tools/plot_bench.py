#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_bench - the table of "make bench" as a picture.

  tools/plot_bench.py build/bench/results.jsonl build/bench/bench.svg

Reads what sley-bench --results wrote.  Each line of the picture is sley
against one peer: the ratio of the medians on a logarithmic axis, to the left
of 1 where sley is faster; of GFLOP/s, of which more is better, the inverse of
the ratio is drawn.  A black mark is the bar sley sets itself; colour
and text say whether it is held.  A bar without a peer is drawn as the ratio to
the bar.  Where rsvg-convert is installed, a PNG of the same name is written,
too.  Nothing but the standard library.
"""
import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import textwrap
import time
from xml.sax.saxutils import escape

FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
INK, SOFT, FAINT, GRID = "#1c2430", "#5b6675", "#8a94a3", "#e3e7ec"
COLOURS = {"held": "#14866d", "missed": "#d1551d", None: "#9db0c6"}
BAND = "#f6f8fa"

WIDTH = 1200
LABEL, PEER = 32, 392          # left edge; right edge
PLOT_LEFT, PLOT_RIGHT = 408, 838
OURS, THEIRS, RATIO, BAR = 918, 996, 1056, 1072
LINE, GAP, BAR_HEIGHT = 24, 20, 13
TICKS_MAX = 11
TOP, BOTTOM = 132, 84

METRICS = {"ns": "", "p50_ns": "median", "p99_ns": "99th percentile",
           "buffered_ns": "buffered", "plain_ns": "plain form",
           "generic_ns": "by a comparison", "ms": "", "bytes": "memory",
           "cpu_ms": "CPU time", "busy_pct": "CPU beyond the loop itself",
           "raw_pct": "CPU in all"}


class Line:
    """sley against one peer, or against a bar of its own."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs
        self.alone = theirs is ours
        self.base = ours["limit"] if self.alone else theirs["value"]
        self.ratio = ours["value"] / self.base
        limit = theirs.get("limit")
        self.limit = limit / self.base if limit else None
        self.verdict = {True: "held", False: "missed"}.get(theirs.get("held"))
        self.more = ours["metric"].endswith("gflops")
        self.spread = sorted(self.at(ours[end] / self.base)
                             for end in ("min", "max"))

    def at(self, ratio):
        """Where a ratio stands on the axis: the better, the further left."""
        return 1 / ratio if self.more else ratio

    def positions(self):
        return [self.at(value) for value in (self.ratio, self.limit) if value]


class Group:
    """The lines of one row, number of workers and metric."""

    def __init__(self, row, workers, metric):
        self.row, self.workers, self.metric = row, workers, metric
        self.about, self.lines, self.first = "", [], False

    def note(self):
        words = [f"{self.workers} worker" + "s" * (self.workers != 1)]
        metric = METRICS.get(self.metric, self.metric)
        return ", ".join(words + [metric] * bool(metric))

    def texts(self):
        """The lines of the label below the name of the row."""
        about = textwrap.wrap(self.about, 40) if self.first else []
        return about[:2]

    def height(self):
        label = 20 + 15 * (len(self.texts()) if self.first else 0)
        return max(len(self.lines) * LINE, label) + GAP


def groups_of(objects):
    """Groups with something to compare, in the order of the file."""
    found = {}
    for entry in objects:
        key = (entry["row"], entry["workers"], entry["metric"])
        found.setdefault(key, []).append(entry)
    groups, seen = [], set()
    for key, entries in found.items():
        ours = next((e for e in entries if e["peer"] == "sley"), None)
        if not ours or ours["value"] <= 0:
            continue
        group = Group(*key)
        group.about = ours.get("about", "")
        if ours.get("limit"):
            group.lines.append(Line(ours, ours))
        group.lines += [Line(ours, e) for e in entries
                        if e is not ours and e["value"] > 0]
        if group.lines:
            group.first = group.row not in seen
            seen.add(group.row)
            groups.append(group)
    return groups


def quantity(metric, value):
    """A value with its unit, in three digits."""
    unit, steps = "", [("", 1)]
    if metric.endswith("ns"):
        steps = [("ns", 1), ("\u00b5s", 1e3), ("ms", 1e6), ("s", 1e9)]
    elif metric.endswith("ms"):
        steps = [("ms", 1), ("s", 1e3)]
    elif metric == "bytes":
        steps = [("B", 1), ("KiB", 1024), ("MiB", 1024 ** 2)]
    elif metric.endswith("pct"):
        steps = [("%", 1)]
    elif metric.endswith("gflops"):
        steps = [("GF/s", 1)]
    unit, scale = max((s for s in steps if value >= s[1]),
                      key=lambda s: s[1], default=steps[0])
    value /= scale
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}".strip()


class Axis:
    """Ratios to places, logarithmically, between round numbers."""

    def __init__(self, values):
        self.low = self.round(min(values + [0.5]), math.floor)
        self.high = self.round(max(values + [2.0]), math.ceil)

    @staticmethod
    def round(value, direction):
        """The next of ... 0.1 0.2 0.5 1 2 5 10 ... in a direction."""
        marks = [m * 10.0 ** e for e in range(-6, 7) for m in (1, 2, 5)]
        if direction is math.floor:
            return max(m for m in marks if m <= value)
        return min(m for m in marks if m >= value)

    def ticks(self):
        """Round numbers; where they would get in each other's way, the
        powers of ten."""
        for steps in ((1, 2, 5), (1,)):
            marks = [float(f"{m}e{e}") for e in range(-6, 7) for m in steps]
            ticks = [m for m in marks
                     if self.low * 0.999 <= m <= self.high * 1.001]
            if len(ticks) <= TICKS_MAX:
                break
        return ticks

    def place(self, ratio):
        share = (math.log(ratio) - math.log(self.low)) / (
            math.log(self.high) - math.log(self.low))
        share = min(max(share, 0.0), 1.0)
        return PLOT_LEFT + share * (PLOT_RIGHT - PLOT_LEFT)


class Picture:
    def __init__(self, groups, machine):
        self.groups, self.machine = groups, machine
        lines = [line for group in groups for line in group.lines]
        self.axis = Axis([p for line in lines for p in line.positions()])
        self.verdicts = [line.verdict for line in lines]
        self.height = TOP + sum(g.height() for g in groups) + BOTTOM
        self.out = []

    def text(self, x, y, content, size=12, fill=INK, anchor="start",
             weight="normal"):
        self.out.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" '
            f'text-anchor="{anchor}" font-weight="{weight}">'
            f"{escape(content)}</text>")

    def rect(self, x, y, width, height, fill, radius=0):
        self.out.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
            f'height="{height:.1f}" fill="{fill}" rx="{radius}"/>')

    def rule(self, x1, y1, x2, y2, stroke, width=1.0):
        self.out.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{stroke}" stroke-width="{width}"/>')

    def mark(self, x, middle):
        """The bar: a line with a point on top."""
        top, bottom = middle - 11, middle + 10
        self.rule(x, top, x, bottom, INK, 1.6)
        self.out.append(f'<path d="M {x - 4:.1f} {top - 1:.1f} h 8 l -4 6 z" '
                        f'fill="{INK}"/>')

    def head(self):
        self.text(LABEL, 44, "sley against its peers", 22, weight="bold")
        self.text(LABEL, 66, "median of sley \u00f7 median of the peer, "
                  "logarithmic; lower is better", 12.5, SOFT)
        self.text(LABEL, 84, self.machine, 11, FAINT)
        held = self.verdicts.count("held")
        missed = self.verdicts.count("missed")
        x = PLOT_LEFT + 70
        for key, words in (("held", f"bar held ({held})"),
                           ("missed", f"bar missed ({missed})"),
                           (None, "no bar")):
            self.rect(x, 34, 14, 11, COLOURS[key], 2)
            self.text(x + 20, 44, words, 12)
            x += 36 + 7.2 * len(words)
        self.mark(x + 6, 40)
        self.text(x + 18, 44, "the bar", 12)

    def columns(self, y):
        one = self.axis.place(1.0)
        self.text(one - 8, y - 17, "\u25c0 sley is faster", 11, SOFT, "end")
        self.text(one + 8, y - 17, "slower \u25b6", 11, SOFT)
        for x, words in ((OURS, "sley"), (THEIRS, "peer"), (RATIO, "ratio")):
            self.text(x, y, words, 11, SOFT, "end", "bold")
        self.text(BAR, y, "bar", 11, SOFT, "start", "bold")

    def ticks(self, y):
        for tick in self.axis.ticks():
            self.text(self.axis.place(tick), y, f"{tick:g}", 10.5, SOFT,
                      "middle")

    def grid(self, top, bottom):
        for tick in self.axis.ticks():
            x = self.axis.place(tick)
            self.rule(x, top, x, bottom, GRID)
        one = self.axis.place(1.0)
        self.rule(one, top, one, bottom, INK, 1.2)

    def draw_line(self, group, line, middle):
        name = "its own bar" if line.alone else line.theirs["peer"]
        self.text(PEER, middle + 4, name, 12, SOFT if line.alone else INK,
                  "end")
        one, end = (self.axis.place(1.0),
                    self.axis.place(line.at(line.ratio)))
        self.rect(min(one, end), middle - BAR_HEIGHT / 2, abs(end - one),
                  BAR_HEIGHT, COLOURS[line.verdict], 1.5)
        if line.spread[1] > line.spread[0]:
            self.rule(self.axis.place(line.spread[0]), middle,
                      self.axis.place(line.spread[1]), middle, INK, 0.9)
        if line.limit:
            self.mark(self.axis.place(line.at(line.limit)), middle)
        weight = "bold" if line.verdict else "normal"
        self.text(OURS, middle + 4,
                  quantity(group.metric, line.ours["value"]), 12,
                  anchor="end")
        self.text(THEIRS, middle + 4, quantity(group.metric, line.base), 12,
                  SOFT, "end")
        self.text(RATIO, middle + 4, f"{line.ratio:.2f}", 12, anchor="end",
                  weight=weight)
        if line.verdict:
            sign = "\u2265" if line.more else "\u2264"
            self.text(BAR, middle + 4, f"{sign} {line.limit:.2f} "
                      f"{line.verdict}", 12, COLOURS[line.verdict],
                      weight="bold")

    def draw_group(self, group, top):
        y = top + GAP / 2 + 16
        name = (f'<tspan font-size="14" font-weight="bold" fill="{INK}">'
                f'{escape(group.row)}</tspan>' if group.first else "")
        gap = 9 if group.first else 0
        self.out.append(f'<text x="{LABEL}" y="{y:.1f}" font-size="11.5" '
                        f'fill="{SOFT}">{name}<tspan dx="{gap}">'
                        f"{escape(group.note())}</tspan></text>")
        for text in group.texts():
            y += 15
            self.text(LABEL, y, text, 11, FAINT)
        for nr, line in enumerate(group.lines):
            self.draw_line(group, line, top + GAP / 2 + LINE * (nr + 0.5))

    def foot(self, y):
        runs = sorted({line.ours["n"] for group in self.groups
                       for line in group.lines})
        many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        self.text(LABEL, y, f"Medians of {many} runs each, in turn, in "
                  "processes of their own.  Thin line: fastest to slowest run "
                  "of sley.", 11, SOFT)
        self.text(LABEL, y + 16, "On a shared virtual machine read a "
                  "difference below a quarter as a tie.  bench/README.md says "
                  "what each row measures, and how fair it is.", 11, SOFT)

    def svg(self):
        self.rect(0, 0, WIDTH, self.height, "#ffffff")
        self.head()
        self.columns(TOP - 8)
        self.ticks(TOP - 8)
        top, rows = TOP, list(dict.fromkeys(g.row for g in self.groups))
        bottom = self.height - BOTTOM
        for group in self.groups:
            if rows.index(group.row) % 2 == 0:
                self.rect(16, top, WIDTH - 32, group.height(), BAND)
            top += group.height()
        self.grid(TOP, bottom)
        top = TOP
        for group in self.groups:
            self.draw_group(group, top)
            top += group.height()
        self.ticks(bottom + 16)
        self.foot(bottom + 46)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
                f'height="{self.height:.0f}" viewBox="0 0 {WIDTH} '
                f'{self.height:.0f}" font-family="{FONT}">\n'
                f"<title>sley against its peers</title>\n"
                + "\n".join(self.out) + "\n</svg>\n")


def this_machine(path):
    """Where and when it was measured."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    day = time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime(path)))
    return (f"{model}, {os.cpu_count()} CPUs, Linux "
            f"{platform.release().split('-')[0]}, {day}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("svg")
    parser.add_argument("--machine", help="the line that says where")
    args = parser.parse_args()
    with open(args.results, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file if line.strip()]
    groups = groups_of(objects)
    if not groups:
        print("plot_bench: nothing to compare; run sley-bench with --peers")
        return 1
    machine = args.machine or this_machine(args.results)
    with open(args.svg, "w", encoding="utf-8") as file:
        file.write(Picture(groups, machine).svg())
    written = [args.svg]
    if shutil.which("rsvg-convert"):
        png = os.path.splitext(args.svg)[0] + ".png"
        subprocess.run(["rsvg-convert", "--zoom", "2", "-o", png, args.svg],
                       check=True)
        written.append(png)
    print("plot_bench: wrote", " and ".join(written))
    return 0


if __name__ == "__main__":
    sys.exit(main())
