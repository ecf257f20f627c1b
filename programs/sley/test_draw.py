#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_draw - "sley draw" from outside: what it draws, and what it refuses.

The second half is input that means harm: each must end with status 1 and one line
that says where the fault is, never with a signal, a sanitizer's report, or a picture
that is no XML.
"""
import argparse
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
WORKERS = 4
failures = 0
program = None


def check(name, condition, detail=""):
    global failures
    if condition:
        return
    failures += 1
    print("FAIL", name)
    print(str(detail)[:2000])


def group(name):
    print("--  ", name, flush=True)


def run(*words, text="", limit=None):
    """With so many bytes of address space, if there is a limit."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    before = ["prlimit", f"--as={limit}"] if limit else []
    return subprocess.run([*before, program, "draw", *words], input=text,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)


def node(number, **members):
    """A node that is done, but for what is said."""
    return {"id": number, "name": f"n{number}", "state": "done", "depth": 0,
            "start_ns": 10 * number, "end_ns": 10 * number + 7, "worker":
            number % WORKERS, "code": 0, "error": None} | members


def edge(start, end, kind="need"):
    return {"from": start, "to": end, "kind": kind}


def graph(nodes, edges=(), path=(), **members):
    return {"sley_graph": 1, "name": "test", "now_ns": 1000,
            "nodes_left_out": 0, "edges_left_out": 0, "nodes": list(nodes),
            "edges": list(edges), "critical_path": list(path)} | members


NEVER = {"start_ns": None, "end_ns": None, "worker": None}

# All states, all kinds of edges, a path.
SMALL = graph(
    [node(0), node(1, state="failed", code=-2, error="No such file"),
     node(2, state="skipped", code=-2, error="No such file", **NEVER),
     node(3, state="running", end_ns=None, worker=None),
     node(4, state="waiting", **NEVER), node(5, state="ready", **NEVER)],
    [edge(0, 1), edge(1, 2, "failure"), edge(0, 3, "order"), edge(3, 4),
     edge(0, 5)], [0, 1])


def randomly(size, degree, picker=random):
    """Edges to any node, from any node before it."""
    return [edge(picker.randrange(i), i, picker.choice(("need", "order")))
            for i in range(1, size) for _ in range(picker.randrange(degree))]


def drawn(document):
    """The root of the picture."""
    done = run("-", text=json.dumps(document))
    check("a graph that is right is drawn", done.returncode == 0
          and not done.stderr, done.stderr)
    return xml.fromstring(done.stdout)


def nodes_of(root):
    """The groups with a title: those of the legend have none."""
    return [g for g in root.iter(SVG + "g") if g.find(SVG + "title")
            is not None]


def title(group_of_node):
    return group_of_node.find(SVG + "title").text


def words_of(root):
    return [t.text or "" for t in root.iter(SVG + "text")]


def edges_of(root):
    """The paths with an arrow."""
    return [p for p in root.iter(SVG + "path") if p.get("marker-end")]


def ends(path):
    """Where a path begins, and where it ends."""
    numbers = list(map(int, re.findall(r"-?\d+", path.get("d"))))
    return numbers[:2], numbers[-2:]


def box(group_of_node):
    rect = group_of_node.find(SVG + "rect")
    return tuple(int(rect.get(key)) for key in ("x", "y", "width", "height"))


# ---- what is drawn ------------------------------------------------------------


def check_example(example):
    group("the example, from the library to the picture")
    done = subprocess.run([example], check=True, stdout=subprocess.PIPE)
    document = json.loads(done.stdout)
    root = xml.fromstring(run("-", text=done.stdout).stdout)
    check("it has the nodes of the graph",
          [title(g).split(":")[0] for g in nodes_of(root)]
          == [n["name"] for n in document["nodes"]], document)
    check("and its edges", len(edges_of(root)) == len(document["edges"]))
    check("and its critical path",
          [i for i, g in enumerate(nodes_of(root)) if g.get("class").endswith
           (" k")] == document["critical_path"] != [], document)
    check("the first and the last node of a factorization are on it",
          {document["nodes"][document["critical_path"][i]]["name"]
           for i in (0, -1)} == {"potrf 0,0", "potrf 4,4"}, document)


def check_states():
    group("states, kinds and words")
    root = drawn(SMALL | {"nodes_left_out": 3, "edges_left_out": 2})
    classes = [g.get("class") for g in nodes_of(root)]
    check("each state has its colour, and the path is bold",
          classes == ["s3 k", "s4 k", "s5", "s2", "s0", "s1"], classes)
    check("titles say all there is to say", [title(g) for g in nodes_of(root)]
          == ["n0: done, 7 ns on worker 0",
              "n1: failed, No such file, 7 ns on worker 1", "n2: skipped",
              "n3: running, 970 ns", "n4: waiting", "n5: ready"],
          [title(g) for g in nodes_of(root)])
    words = words_of(root)
    check("so does the head", words[:2] == [
        "test", "6 nodes, 5 edges, 3 more nodes left out, 2 more edges left "
        "out; critical path 14 ns of 1.0 \u00b5s"], words)
    check("the legend counts", {"1 waiting", "1 ready", "1 running", "1 done",
                                "1 failed", "1 skipped", "critical path",
                                "led to a skip", "order only"} <= set(words),
          words)
    check("boxes say how long, and by which worker",
          {"7 ns \u00b7 w0", "7 ns \u00b7 w1", "970 ns", "skipped",
           "waiting", "ready"} <= set(words), words)
    kinds = sorted(p.get("class") for p in edges_of(root))
    check("each kind of edge has its line",
          kinds == ["c", "e", "e", "e o", "p"], kinds)
    words = words_of(drawn(graph([node(0)])))
    check("the legend has only what is there", "1 done" in words
          and not {"critical path", "led to a skip", "order only"}
          & set(words), words)
    deep = drawn(graph([node(0, depth=2)]))
    check("a scope is named", title(nodes_of(deep)[0]).endswith(
        ", scope of depth 2"))
    check("an empty graph is a picture, too", nodes_of(drawn(graph([]))) == [])
    late = drawn(graph([node(0, state="running", start_ns=2000, end_ns=None,
                             worker=None)]))
    check("a node may begin while the graph is written",
          title(nodes_of(late)[0]) == "n0: running, 0 ns")


def check_times():
    group("times")
    for ns, words in ((0, "0 ns"), (999, "999 ns"), (1000, "1.0 \u00b5s"),
                      (99949, "99.9 \u00b5s"), (123456, "123 \u00b5s"),
                      (1234567, "1.2 ms"), (61 * 10**9, "61.0 s"),
                      (2**62, "4611686018 s")):
        found = words_of(drawn(graph([node(0, start_ns=0, end_ns=ns)])))
        check(f"{ns} ns", f"{words} \u00b7 w0" in found, found)
    long = graph([node(i, start_ns=0, end_ns=2**62) for i in range(9)],
                 [edge(i, i + 1) for i in range(8)], range(9))
    check("sums do not run over", "critical path 18446744073 s of"
          in words_of(drawn(long))[1], words_of(drawn(long))[1])


def check_names():
    group("names")
    names = ["<a href=\"\">&amp;\\n</a>", "\u0001\u001f\u007f\n\t(",
             "\uffff\ufffe\u009b\ufffd", "\u00e4\u20ac\U0001f600", "",
             "x" * 999]
    root = drawn(graph((node(i, name=n) for i, n in enumerate(names)),
                       name="a \"<graph>\" & \\more"))
    titles = [title(g) for g in nodes_of(root)]
    check("names are text, whatever they are",
          [t.split(": done")[0] for t in titles]
          == [names[0], "?????(", "???\ufffd", names[3], "", "x" * 96], titles)
    check("long ones are cut", "x" * 23 + "\u2026" in words_of(root))
    check("the graph has a name, too",
          words_of(root)[0] == "a \"<graph>\" & \\more")


def check_boxes():
    group("boxes do not overlap whatever the graph")
    picker = random.Random(7)
    size = 0
    while size <= 200:
        edges = randomly(size, 4, picker)
        picker.shuffle(edges)
        root = drawn(graph((node(i) for i in range(size)), edges))
        boxes = [box(g) for g in nodes_of(root)]
        width, height = int(root.get("width")), int(root.get("height"))
        check("there is one for each node", len(boxes) == size)
        check("each is inside", all(
            x > 0 and x + w < width and y > 0 and y + h < height
            for x, y, w, h in boxes), boxes)
        check("no two are at one place", all(
            a[1] != b[1] or abs(a[0] - b[0]) >= a[2]
            for i, a in enumerate(boxes) for b in boxes[:i]), boxes)
        check("a node stands below all it depends on", all(
            boxes[e["from"]][1] < boxes[e["to"]][1] for e in edges))
        arrows = edges_of(root)
        check("there is an arrow for each edge", len(arrows) == len(edges))
        sides = sorted((boxes[e["from"]][1] + 44, boxes[e["to"]][1] - 8)
                       for e in edges)
        check("from box to box", sides == sorted(
            (ends(a)[0][1], ends(a)[1][1]) for a in arrows))
        size = size * 2 + 1


# ---- what is refused -----------------------------------------------------------


def refused(name, done, *words):
    line = done.stderr.decode("utf-8", "replace")
    check(f"refused, with one line that says why: {name}",
          done.returncode == 1 and not done.stdout
          and line.startswith("sley draw: ") and line.count("\n") == 1
          and line.isascii() and line[:-1].isprintable()
          and all(word in line for word in words),
          f"status {done.returncode}: {line}")


def changed(path, value):
    """SMALL, with another value at (key, key, ...); ... takes it away."""
    document = copy.deepcopy(SMALL)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document)


def spelled(path):
    """As messages name a member."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}"
                   for key in path)[1:]


def members():
    """Each member and element of SMALL, and what it is."""
    def walk(path, value):
        if path:
            yield path, value
        pairs = value.items() if isinstance(value, dict) else \
            enumerate(value) if isinstance(value, list) else ()
        for key, inner in pairs:
            yield from walk((*path, key), inner)
    return list(walk((), SMALL))


def may_be(key, value, other):
    """Is the other value as good as that of SMALL?"""
    return (key == "name" and other == "x"
            or key == "error" and value and other == "x"
            or key == "code" and value and other == -1
            and type(other) is int
            or key == "critical_path" and other == [])


def check_types(quick):
    group("each member missing, or of another type")
    others = [None, True, 1.5, -1, 2**63 - 1, "x", [], {}, [[]]]
    if quick:
        others = [2**63 - 1, "x"]
    for path, value in members():
        where = spelled(path)
        if isinstance(path[-1], str):
            refused(f"no {where}", run("-", text=changed(path, ...)),
                    path[-1] if len(path) == 1 else where)
        for other in others:
            if other == value and type(other) is type(value):
                continue
            done = run("-", text=changed(path, other))
            if may_be(path[-1], value, other):
                check(f"{where} may be {other}", done.returncode == 0,
                      done.stderr)
                xml.fromstring(done.stdout)
            else:
                refused(f"{where} is {other}", done)


def check_fields():
    group("values that do not fit together")
    for path, value, *words in (
            (("sley_graph",), 2, "version is 2", "knows version 1"),
            (("nodes", 0, "id"), 1, "nodes[0].id", "0 is expected"),
            (("nodes", 0, "state"), "\x1b[31m", "nodes[0].state", "?[31m"),
            (("nodes", 0, "end_ns"), None, "nodes[0].end_ns"),
            (("nodes", 3, "start_ns"), None, "nodes[3].start_ns"),
            (("nodes", 1, "end_ns"), 9, "nodes[1].end_ns", "before start_ns"),
            (("nodes", 3, "end_ns"), 900, "nodes[3].end_ns", "null"),
            (("nodes", 4, "worker"), 0, "nodes[4].worker", "null"),
            (("nodes", 0, "code"), -2, "nodes[0].code"),
            (("nodes", 1, "code"), 0, "nodes[1].code"),
            (("nodes", 1, "error"), None, "nodes[1].error"),
            (("nodes", 0, "error"), "x", "nodes[0].error"),
            (("edges", 1, "to"), 6, "edges[1].to", "no node 6 among 6"),
            (("edges", 1, "from"), 2**62, "edges[1].from", "no node"),
            (("edges", 1, "to"), 1, "edges[1]", "from node 1 back to 1"),
            (("edges", 1), edge(2, 1), "edges[1]", "from node 2 back to 1"),
            (("edges", 1, "kind"), "want", "edges[1].kind", '"want"'),
            (("critical_path",), [0, 2], "critical_path[1]", "no edge"),
            (("critical_path",), [0, 0], "critical_path[1]", "no edge"),
            (("critical_path",), [1, 0], "critical_path[1]", "no edge"),
            (("critical_path",), [6], "critical_path[0]", "id of a node")):
        refused(f"{spelled(path)} is {value}",
                run("-", text=changed(path, value)), *words)
    cycle = graph([node(0), node(1), node(2)],
                  [edge(0, 1), edge(1, 2), edge(2, 0)])
    refused("a cycle", run("-", text=json.dumps(cycle)), "edges[2]",
            "from node 2 back to 0")
    unknown = SMALL | {"later": {"more": [1.5, None, True]}}
    check("members that it does not know are passed over",
          run("-", text=json.dumps(unknown)).stdout
          == run("-", text=json.dumps(SMALL)).stdout)


def check_texts(quick):
    group("texts that are no JSON, or no graph")
    good = json.dumps(SMALL)
    for name, text, *words in (
            ("nothing", "", "line 1"), ("no graph", "[]", "is no graph"),
            ("a number", "1", "line 1"), ("a picture", "<svg/>", "line 1"),
            ("a zero byte", good.replace("test", "\0"), "line 1"),
            ("an escaped zero byte", good.replace("test", "\\u0000"), "line"),
            ("no UTF-8", good.encode().replace(b"test", b"\xff"), "line 1"),
            ("half a surrogate", good.replace("test", "\\ud800"), "line 1"),
            ("a member twice", good.replace("{", '{"name":"x",', 1), "name"),
            ("a command to the terminal", '{"sley_graph":\x1b]0;x\x07}',
             "line 1"),
            ("a number that is too large",
             good.replace("1000", "9" * 400), "line 1"),
            ("another line", good.replace(", ", ",\n")[:-1], "line 7"),
            ("nesting", "[" * 10**6, "depth"),
            ("nesting in an unknown member",
             '{"x":' * 10**5, "depth"),
            ("more behind it", good + "{}", "line 1")):
        refused(name, run("-", text=text), *words)
    step = 31 if quick else 3
    for length in range(0, len(good), step):
        refused(f"cut after {length} bytes", run("-", text=good[:length]),
                "line 1")
    picker = random.Random(11)
    for turn in range(60 if quick else 400):
        text = bytearray(good.encode())
        for _ in range(picker.randrange(1, 4)):
            text[picker.randrange(len(text))] = picker.choice(
                b'0123456789"{}[],:-\\entf\0\xff')
        done = run("-", text=bytes(text))
        if done.returncode:
            refused(f"damage {turn}", done)
        else:
            xml.fromstring(done.stdout)


def check_limits(sanitized):
    group("limits")

    def feed(pipe):
        try:
            while True:
                pipe.write(b" " * (1 << 20))
        except BrokenPipeError:
            pass

    with subprocess.Popen([program, "draw", "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        feeder = threading.Thread(target=feed, args=(p.stdin,))
        feeder.start()
        p.wait(timeout=300)
        line = p.stderr.read()
        feeder.join()
        try:
            p.stdin.close()
        except BrokenPipeError:
            pass
    check("a text without end is refused", p.returncode == 1
          and b"longer than 256 MiB" in line, line)
    if not sanitized:  # which needs more address space than this
        document = graph((node(i) for i in range(20000)))
        text = json.dumps(document)
        check("it can be drawn where there is memory",
              run("-", text=text).returncode == 0)
        refused("there is no memory", run("-", text=text, limit=16 << 20),
                "memory")


def check_large(quick):
    size = 10000 if quick else 100000
    group(f"{size:,} nodes, within seconds")
    picker = random.Random(5)
    for name, edges in (
            ("alone", []), ("in a chain", [edge(i - 1, i) for i in
                                           range(1, size)]),
            ("from one", [edge(0, i) for i in range(1, size)]),
            ("to one", [edge(i, size - 1) for i in range(size - 1)]),
            ("at random", randomly(size, 4, picker))):
        text = json.dumps(graph((node(i) for i in range(size)), edges))
        begin = time.monotonic()
        done = run("-", text=text)
        took = time.monotonic() - begin
        check(f"{name}: all are drawn", done.returncode == 0
              and done.stdout.count(b"<title>") == size
              and done.stdout.count(b"marker-end") == len(edges),
              done.stderr)
        check(f"{name}: within a minute on a busy machine", took < 60, took)
        print(f"     {name}: {took:.1f} s", flush=True)


# ---- the command line -------------------------------------------------------------


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_command(folder):
    group("the command line")
    source, target = (os.path.join(folder, n) for n in ("r.json", "r.svg"))
    with open(source, "w", encoding="utf-8") as file:
        json.dump(SMALL, file)
    picture = run(source).stdout
    check("a file and standard input are the same",
          picture and picture == run("-", text=json.dumps(SMALL)).stdout)
    for words in ((source, "-o", target), ("-o", target, source)):
        done = run(*words)
        check("-o names the output", done.returncode == 0 and not done.stdout
              and read(target) == picture, done.stderr)
        os.remove(target)
    for words in ((), ("-o", target), (source, "-o"), (source, source),
                  (source, "--fast"), (source, "-o", target, "-o", target)):
        done = run(*words)
        check(f"a wrong use: {words}", done.returncode == 2 and
              b"usage: sley draw" in done.stderr and not os.path.exists
              (target), done.stderr)
    with open(target, "w", encoding="ascii") as file:
        file.write("old")
    refused("a file that is not there", run("/nowhere.json", "-o", target),
            "/nowhere.json: No such file")
    refused("a folder", run(folder, "-o", target), "Is a directory")
    refused("no graph", run("-", "-o", target, text="{}"), "standard input")
    check("what cannot be drawn costs no old picture", read(target) == b"old")
    refused("no folder for the output", run(source, "-o", "/nowhere/r.svg"),
            "/nowhere/r.svg: No such file")
    refused("a full disk", run(source, "-o", "/dev/full"), "No space left")
    check("input and output may be one file",
          run(source, "-o", source).returncode == 0
          and read(source) == picture)
    listed = subprocess.run([program, "help"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    check("help lists it", "sley draw" in listed, listed)


def main():
    global program
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--example", required=True)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--quick", action="store_true",
                        help="fewer cases of each kind")
    args = parser.parse_args()
    program = args.program
    # A report of a sanitizer is a signal, and not the status of a refusal.
    os.environ["ASAN_OPTIONS"] = os.environ["UBSAN_OPTIONS"] = \
        "abort_on_error=1"
    check_example(args.example)
    check_states()
    check_times()
    check_names()
    check_boxes()
    check_types(args.quick)
    check_fields()
    check_texts(args.quick)
    check_limits(args.sanitized)
    check_large(args.quick)
    with tempfile.TemporaryDirectory() as folder:
        check_command(folder)
    print(f"{failures} failed")
    return failures != 0


sys.exit(main())
