#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace - read a trace and print what is in it, one "key value" a line.

  tracks      threads with a name
  done blocked yielded unknown
              slices by how they ended
  named       slices of the tasks that have a name in tests/conformance/trace.c
  strangers   slices that belong to no task that ended
  overlaps    slices of one track that begin before the last one has ended
  dropped     events that the file says it lacks
"""
import collections
import json
import sys

NAME = 'say "\\' + 4 * "\u00e4" + "?"  # cut in the middle of a letter

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)

count = collections.Counter()
ended = set()
seen = set()
last = {}
dropped = 0
for event in trace["traceEvents"]:
    track = event["pid"], event["tid"]
    if event["ph"] == "M":
        count["tracks"] += event["name"] == "thread_name"
        continue
    if event["ph"] == "i":
        assert event["name"] in ("park", "unpark", "steal", "dropped"), event
        if event["name"] == "dropped":
            dropped += event["args"]["events"]
        continue
    assert event["ph"] == "X", event
    assert event["dur"] >= 0, event
    end = event["args"]["end"]
    count[end] += 1
    count["named"] += event["name"] == NAME
    # The times have three digits behind the point; halves of them are noise.
    count["overlaps"] += event["ts"] < last.get(track, 0) - 0.0005
    last[track] = event["ts"] + event["dur"]
    seen.add(event["args"]["task"])
    if end == "done":
        ended.add(event["args"]["task"])

assert trace["otherData"]["dropped"] == dropped
count["dropped"] = dropped
count["strangers"] = len(seen - ended)
for key in ("tracks", "done", "blocked", "yielded", "unknown", "named",
            "strangers", "overlaps", "dropped"):
    print(key, count[key])
