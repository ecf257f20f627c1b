#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_protocol_mutants - mistakes are made as said, and told apart.

The project has one model, a program that answers as model_x --sites does: it
runs the protocol in the two orders that matter, and says what failed.
"""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

import protocol_generate
import protocol_mutants

SOURCE = """\
#include <stdbool.h>
#include "lf/box.h"
void box_send(struct box *box, int value)
{
\tif (value < 0)
\t\treturn;
\tstore_release(&box->data, value);
\tstore_release(&box->full, 1);
}

int box_receive(struct box *box)
{
\twhile (!load_acquire(&box->full) && !box->closed)
\t\tturn(box);
\tif (box->closed)
\t\treturn -1;
\treturn load_acquire(&box->data);
}

void box_shut(struct box *box)
{
\tstore_release(&box->closed, 1);
\tbox_wake(box);
}

int box_size(void)
{
\treturn sizeof(struct box) > 1 && true;
}
"""

FILES = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(box C)
include_directories(src)
add_library(box OBJECT src/lf/box.c)
add_executable(model_lf_box tests/model/lf_box.c $<TARGET_OBJECTS:box>)
set_target_properties(model_lf_box PROPERTIES
\tRUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/model)
""",
    "src/lf/box.h": """\
struct box {
\tint data, full, closed, woken;
};
#define store_release(p, v) (*(p) = (v), turn(box))
#define load_acquire(p) (*(p))
void turn(struct box *box);
void box_send(struct box *box, int value);
int box_receive(struct box *box);
void box_shut(struct box *box);
static inline void box_wake(struct box *box)
{
\tbox->woken = 1;
}
""",
    "src/lf/box.c": SOURCE,
    # The other thread looks at each turn; a turn too many is a livelock.
    "tests/model/lf_box.c": """\
#include "lf/box.h"
#include <stdio.h>
#include <string.h>
static int turns, early, until;
static void say(const char *failure)
{
\tprintf("model\\tbox\\tsc\\t1\\t0.0\\t%s\\n", failure);
}
void turn(struct box *box)
{
\tif (box->full && !box->data)
\t\tearly = 1;
\tif (++turns == until)
\t\tbox->data = 5, box->full = 1;
}
int main(int argc, char **argv)
{
\tint slow = argc > 1 && !strcmp(argv[argc - 1], "--slow");
\tstruct box box = { 0 };
\tbox_send(&box, 3);
\tif (early || box.data != 3 || !box.full)
\t\tsay("assertion");
\tbox = (struct box){ 0 };
\tuntil = turns + 3;
\tif (box_receive(&box) != 5)
\t\tsay("assertion");
\tbox = (struct box){ 0 };
\tbox_shut(&box);
\tif (!box.woken || !box.closed)
\t\tsay("lost wake-up");
\tbox = (struct box){ 0 };
\tif (slow)
\t\tbox_send(&box, 77);
\tif (slow && box.data != 77)
\t\tsay("assertion");
\tsay("nothing");
\treturn 0;
}
""",
}

TERM = "src/lf/box.c box_receive term !box->closed\n"
LEAVE = "src/lf/box.c box_receive recheck (box->closed)\n"
NEGATIVE = "src/lf/box.c box_send recheck (value<0)\n"
WHY = "= Nobody shuts it meanwhile.\n"
OWN = """\
src/lf/box.c box_send old
-\tstore_release(&box->data, value);
+\tstore_release(&box->data, box->data);
"""


def texts(source, kind):
    return [m.text for m in protocol_generate.generate("src/x.c", source)
            if m.kind == kind]


class Generate(unittest.TestCase):
    def test_each_kind(self):
        self.assertEqual(
            texts(SOURCE, "once"),
            ["while(!load_acquire(&box->full)&&!box->closed)"])
        self.assertEqual(texts(SOURCE, "recheck"),
                         ["(value<0)", "(box->closed)"])
        self.assertEqual(texts(SOURCE, "term"),
                         ["!load_acquire(&box->full)", "!box->closed"])
        self.assertEqual(texts(SOURCE, "swap"), [
            "store_release(&box->data,value);store_release(&box->full,1);",
            "store_release(&box->closed,1);box_wake(box);"])
        self.assertIn("box_wake(box);", texts(SOURCE, "omit"))

    def test_a_function_without_a_protocol_is_left_alone(self):
        self.assertFalse([m for m in protocol_generate.generate(
            "src/x.c", SOURCE) if m.function == "box_size"])

    def test_what_is_evaluated_stays_evaluated(self):
        for mutant in protocol_generate.generate("src/x.c", SOURCE):
            if mutant.kind in ("once", "recheck", "term"):
                self.assertIn(mutant.text.replace("while", ""),
                              "".join(mutant.apply(SOURCE).split()))

    def test_a_second_one_of_the_same_text_has_a_number(self):
        twice = SOURCE.replace("\tbox_wake(box);", "\tbox_wake(box);\n" * 2)
        self.assertEqual([m.nth for m in protocol_generate.generate(
            "src/x.c", twice) if m.text == "box_wake(box);"], [1, 2])

    def test_do_while_is_tried_once(self):
        source = ("void f(void)\n{\n\tdo {\n\t\tg();\n\t} while "
                  "(!cas_release(&a, &b, c));\n}\n")
        mutant, = [m for m in protocol_generate.generate("src/x.c", source)
                   if m.kind == "once"]
        self.assertIn("while ((!cas_release(&a, &b, c)) && false);",
                      mutant.apply(source))


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = cls.folder.name
        for path, text in FILES.items():
            cls.write(path, text)
        cls.build = os.path.join(cls.root, "b")
        for command in (["cmake", "-G", "Ninja", "-S", cls.root, "-B",
                         cls.build], ["ninja", "-C", cls.build]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, path, text):
        path = os.path.join(cls.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, *entries, options=()):
        self.write("tests/model/protocol.txt", "\n".join(entries))
        sys.argv = ["mutants.py", "--protocol", "--root", self.root,
                    "--build", self.build, "--verbose", "--seconds", "2",
                    *options]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = protocol_mutants.main()
        return status, output.getvalue()

    def bad(self, complaint, *entries, options=()):
        status, output = self.run_tool(*entries, options=options)
        self.assertIn(complaint, output)
        self.assertEqual(status, 1)

    def test_killed_survived_and_unreached(self):
        status, output = self.run_tool()
        self.assertEqual(status, 1)
        for text in ("killed: src/lf/box.c box_receive once",
                     "killed: src/lf/box.c box_send swap",
                     "killed: src/lf/box.c box_shut omit box_wake",
                     "recheck (value<0) survived",
                     "term !box->closed survived",
                     "swap store_release(&box->closed,1);box_wake(box); "
                     "survived"):
            self.assertIn(text, output)

    def test_a_place_that_no_model_comes_by(self):
        source = SOURCE + ("\nvoid box_never(struct box *box)\n{\n\tif "
                           "(load_acquire(&box->full))\n\t\treturn;\n\t"
                           "turn(box);\n}\n")
        self.write("src/lf/box.c", source)
        try:
            _, output = self.run_tool(options=("--only", "box_never"))
            self.assertIn("unreached: src/lf/box.c box_never recheck", output)
        finally:
            self.write("src/lf/box.c", SOURCE)

    def test_a_sample_does_not_say_what_survives(self):
        status, output = self.run_tool(options=("--sample", "100"))
        self.assertIn("undecided: src/lf/box.c box_send recheck (value<0)",
                      output)
        self.assertEqual(status, 0, output)
        self.bad("(tests/model/protocol.txt:1) survived", OWN.replace(
            "box->data);", "(value));"), options=("--sample", "100"))

    def test_what_is_argued_may_survive(self):
        status, output = self.run_tool(
            TERM + WHY, LEAVE + WHY, NEGATIVE + WHY,
            options=("--kind", "term", "--kind", "recheck"))
        self.assertIn("equivalent: src/lf/box.c box_send recheck (value<0)",
                      output)
        self.assertEqual(status, 0, output)

    def with_open(self, *names):
        path = "tests/model/protocol_open.txt"
        self.write(path, "# some\n" + "\n".join(names) + "\n")
        self.addCleanup(os.unlink, os.path.join(self.root, path))

    def test_survivors_that_are_open(self):
        self.with_open("src/lf/box.c box_send recheck (value<0)")
        for more in ((), ("--open",)):
            _, output = self.run_tool(options=("--kind", "recheck", *more))
            self.assertIn("open: src/lf/box.c box_send recheck (value<0)",
                          output)
            self.assertNotIn("(value<0) survived", output)

    def test_an_open_one_that_is_killed(self):
        self.with_open("src/lf/box.c box_shut omit box_wake(box);")
        status, output = self.run_tool(options=("--only", "box_shut",
                                                "--kind", "omit"))
        self.assertEqual(status, 0, output)
        self.bad("take it off the list",
                 options=("--only", "box_shut", "--kind", "omit", "--open"))

    def test_an_open_one_that_is_gone(self):
        self.with_open("src/lf/box.c box_gone omit box_wake(box);")
        self.bad("there is no such mutant any more", options=("--check",))

    def test_an_argument_for_what_is_killed(self):
        self.bad("is argued to be equivalent, and is killed",
                 "src/lf/box.c box_shut omit box_wake(box);\n" + WHY,
                 options=("--only", "box_shut"))

    def test_an_argument_that_matches_nothing(self):
        self.bad("matches nothing", TERM.replace("closed", "open") + WHY,
                 options=("--check",))

    def test_no_argument(self):
        self.bad("no argument", TERM, options=("--check",))

    def test_one_that_is_written_down(self):
        status, output = self.run_tool(OWN, options=("--written",))
        self.assertIn("killed: src/lf/box.c box_send old", output)
        self.assertEqual(status, 0, output)

    def test_one_that_is_written_down_and_survives(self):
        self.bad("(tests/model/protocol.txt:1) survived", OWN.replace(
            "box->data);", "(value));"), options=("--written",))

    def test_one_that_only_a_slow_scene_notices(self):
        status, output = self.run_tool(
            "src/lf/box.c box_send old\n-\tif (value < 0)\n"
            "+\tif (value < 0 || value == 77)\n", options=("--written",))
        self.assertIn("killed: src/lf/box.c box_send old", output)
        self.assertEqual(status, 0, output)

    def test_one_that_is_stale(self):
        self.bad("the old text is not in the file",
                 OWN.replace("-\tstore", "-\tSTORE"), options=("--check",))

    def test_one_of_another_function(self):
        self.bad("not in box_shut()", OWN.replace("box_send", "box_shut"),
                 options=("--check",))

    def test_a_kind_that_is_not_known(self):
        self.bad("not: file, function, kind", OWN.replace(" old", " new"),
                 options=("--check",))

    def test_one_that_does_not_compile(self):
        self.bad("error", OWN.replace("box->data);", "none);"),
                 options=("--written",))


if __name__ == "__main__":
    unittest.main()
