#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace - read a trace and print what is in it, one "key value" a line.

  tracks      threads with a name
  done blocked yielded unknown
              slices by how they ended
  named       slices of the tasks that have a name in tests/conformance/runtime/trace.c
  strangers   slices that belong to no task that ended
  overlaps    slices of one track that begin before the last one has ended
  dropped     events that the file says it lacks
  outer inner other
              scopes of these names in tests/conformance/runtime/trace.c
  stray       scopes outside of a slice of their own task
  crossed     scopes that begin in another one and do not end there
  instants    events without duration that the user added
  open        asynchronous things that began and did not end, or the reverse
  async       those that did both
  renamed     threads with the name given in tests/conformance/runtime/trace.c
  arrows      edges of graphs, from within a slice to within a later one
  loose       ends of arrows that are not so
  given taken cores that went to another process, or came
  overtakes   times that a worker went on without a core
  waits       waits for a core
  self        the number of the process in its domain; -1: no core came or went
  peers       other members that gave or got a core
"""
import collections
import json
import re
import sys

NAME = 'say "\\' + 4 * "\u00e4" + "?"  # cut in the middle of a letter

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)

count = collections.Counter()
ended = set()
seen = set()
last = {}
dropped = 0
slices = []
scopes = []
asynchronous = collections.Counter()
arrows = collections.defaultdict(dict)
selves, peers = set(), set()
for event in trace["traceEvents"]:
    track = event["pid"], event["tid"]
    if event["ph"] == "M":
        count["tracks"] += event["name"] == "thread_name"
        count["renamed"] += event["args"]["name"] == 'my "thread"'
        continue
    if event["ph"] in "be":
        assert event["cat"] == "user", event
        key = event["name"], event["id"]
        asynchronous[key] += 1 if event["ph"] == "b" else -1
        count["async"] += event["ph"] == "e"
        continue
    if event["ph"] in "sf":
        assert (event["cat"], event["name"]) == ("graph", "edge"), event
        assert event["ph"] not in arrows[event["id"]], event
        assert event.get("bp") == ("e" if event["ph"] == "f" else None)
        arrows[event["id"]][event["ph"]] = event
        continue
    if event["ph"] == "i" and event.get("cat") == "user":
        assert event["name"] == "here", event
        count["instants"] += 1
        continue
    if event.get("cat") == "domain" and event["ph"] == "i":
        args = event["args"]
        if event["name"] == "overtake":
            assert -32 <= args["priority"] < 0, event
            count["overtakes"] += 1
            continue
        assert event["name"] in ("core given", "core taken"), event
        assert args["core"] >= 0, event
        given = event["name"] == "core given"
        count["given" if given else "taken"] += 1
        selves.add(args["from" if given else "to"])
        peers.add(args["to" if given else "from"])
        continue
    if event["ph"] == "i":
        assert event["name"] in ("park", "unpark", "steal", "dropped"), event
        if event["name"] == "dropped":
            dropped += event["args"]["events"]
        continue
    assert event["ph"] == "X", event
    assert event["dur"] >= 0, event
    if event.get("cat") == "scope":
        assert event["name"] in ("outer", "inner", "other"), event
        count[event["name"]] += 1
        scopes.append(event)
        continue
    # The times have three digits behind the point; halves of them are noise.
    count["overlaps"] += event["ts"] < last.get(track, 0) - 0.0005
    last[track] = event["ts"] + event["dur"]
    if event.get("cat") == "domain":
        assert event["name"] == "wait for a core", event
        count["waits"] += 1
        continue
    slices.append(event)
    end = event["args"]["end"]
    count[end] += 1
    count["named"] += event["name"] == NAME
    seen.add(event["args"]["task"])
    if end == "done":
        ended.add(event["args"]["task"])

def within(event, other):
    """Is it inside, but for noise?"""
    end = event["ts"] + event["dur"]
    return (event["tid"] == other["tid"]
            and event["args"]["task"] == other["args"]["task"]
            and event["ts"] >= other["ts"] - 0.0005
            and end <= other["ts"] + other["dur"] + 0.0005)


for scope in scopes:
    count["stray"] += not any(within(scope, slice_) for slice_ in slices)
    count["crossed"] += any(
        other["tid"] == scope["tid"]
        and other["ts"] + 0.0005 < scope["ts"] < other["ts"] + other["dur"]
        and not within(scope, other) for other in scopes)


def slice_at(event):
    """The slice that an end of an arrow is bound to."""
    for slice_ in slices:
        if (slice_["tid"] == event["tid"] and
                slice_["ts"] < event["ts"] < slice_["ts"] + slice_["dur"]):
            return slice_
    return None


for arrow in arrows.values():
    ends = [slice_at(arrow[end]) for end in "sf" if end in arrow]
    if len(ends) < 2 or None in ends:
        count["loose"] += 1
    elif ends[0]["ts"] + ends[0]["dur"] > ends[1]["ts"] + 0.0005:
        count["loose"] += 1
    else:
        count["arrows"] += 1
count["open"] = sum(map(bool, asynchronous.values()))

assert trace["otherData"]["dropped"] == dropped
count["dropped"] = dropped
assert len(selves) <= 1 and not selves & peers, (selves, peers)
assert all(re.fullmatch(r"host|member \d+", name) for name in peers), peers
count["self"] = int(selves.pop().removeprefix("member ")) if selves else -1
count["peers"] = len(peers - {"host"})
count["strangers"] = len(seen - ended)
for key in ("tracks", "done", "blocked", "yielded", "unknown", "named",
            "strangers", "overlaps", "dropped", "outer", "inner", "other",
            "stray", "crossed", "instants", "open", "async", "renamed",
            "arrows", "loose", "given", "taken", "overtakes", "waits",
            "self", "peers"):
    print(key, count[key])
