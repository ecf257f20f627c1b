#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_row_mutants - the tool kills what it must, and says what it could not.

The project is a small one, with a library of two files and one test program, which
goes by the name of its file, and is built with cmake and ninja as ours is.
"""
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import row_mutants

FILES = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(box C)
enable_testing()
include_directories(src include)
add_library(sley_objects OBJECT src/core/box.c src/core/lid.c)
add_library(sley_internal STATIC $<TARGET_OBJECTS:sley_objects>)
set_target_properties(sley_internal PROPERTIES
\tARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/src)
add_executable(several tests/unit/box.c)
target_link_libraries(several PRIVATE sley_internal)
add_custom_command(TARGET several POST_BUILD COMMAND ${CMAKE_COMMAND} -E
\tcreate_symlink several ${CMAKE_BINARY_DIR}/box)
add_test(NAME unit.box COMMAND ${CMAKE_BINARY_DIR}/box)
""",
    "include/sley/box.h": """\
static inline int box_double(int value)
{
\treturn 2 * value;
}
""",
    "src/core/box.h": "int box_open(int value);\nint lid(int value);\n",
    "src/core/box.c": """\
#include "core/box.h"
int box_open(int value)
{
\tif (value < 0)
\t\treturn -1;
\treturn lid(value);
}
""",
    "src/core/lid.c": """\
#include "core/box.h"
#include <sley/box.h>
int lid(int value)
{
\treturn box_double(value) / 2;
}
""",
    "tests/unit/box.c": """\
#include <sley/box.h>
#include "core/box.h"
#include <stdio.h>
#include <string.h>
#define TEST(name) static int name(void)
TEST(m01_opens)
{
\treturn box_open(3) == 3;
}
TEST(m02_refuses)
{
\treturn box_open(-3) == -1;
}
int main(int argc, char **argv)
{
\tconst char *filter = argc > 1 ? argv[1] : "";
\tint failed = 0;
\tif (!strstr(argv[0], "/box"))
\t\treturn 2; /* by that name it is not this file's */
\tif (strstr("m01_opens", filter) && !m01_opens() && ++failed)
\t\tputs("FAIL m01_opens");
\tif (strstr("m02_refuses", filter) && !m02_refuses() && ++failed)
\t\tputs("FAIL m02_refuses");
\treturn failed ? 1 : 0;
}
""",
    "docs/CONFORMANCE.md": """\
| row | the promise | tests | note |
|---|---|---|---|
| M1 | it opens | `m01_*` | |
| M2 | it refuses | `m02_*` | |
| R-S1 | on other machines | not done | |
""",
}

M1 = "M1 src/core/box.c\n-\treturn lid(value);\n+\treturn 7;\n"
M2 = "M2 src/core/box.c\n-\tif (value < 0)\n+\tif (value < -9)\n"
NONE = "R-S1 -\n= Belongs to the nodes.\n"
HEADER = "M1 include/sley/box.h\n-\treturn 2 * value;\n+\treturn 3 * value;\n"
# A process that has a session of its own, and never ends.
STRAY = """\
M1 src/core/box.c
-#include "core/box.h"
+#include "core/box.h"
+#include <stdio.h>
+#include <stdlib.h>
+#include <unistd.h>
+static void leave_one(void)
+{
+	FILE *file;
+	if (fork())
+		return;
+	setsid();
+	if ((file = fopen(getenv("STRAY"), "a")))
+		fprintf(file, "%d\\n", (int)getpid());
+	if (file)
+		fclose(file);
+	for (;;)
+		pause();
+}
@@
-	return lid(value);
+	leave_one();
"""
STRAY_FAILS = STRAY + "+\tsleep(1);\n+\treturn 7;\n"
STRAY_HANGS = STRAY + "+\tfor (;;)\n+\t\tpause();\n"


def is_there(pid):
    """Not: or only as something that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition):
    """Whether it comes true; long enough for a machine that is busy."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class RowMutants(unittest.TestCase):
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

    def run_tool(self, *entries, options=("--all",)):
        self.write("tests/rows.txt", "\n".join(entries))
        sys.argv = ["row_mutants.py", "--root", self.root, "--build",
                    self.build, "--verbose", *options]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                status = row_mutants.main()
            except SystemExit as left:
                status = str(left)
        return status, output.getvalue()

    def good(self, *entries, options=("--all",)):
        status, output = self.run_tool(*entries, options=options)
        self.assertEqual(status, 0, output)
        return output

    def bad(self, complaint, *entries, options=("--all",)):
        status, output = self.run_tool(*entries, options=options)
        self.assertIn(complaint, output + str(status))
        self.assertNotEqual(status, 0)

    def test_mutants_that_are_killed(self):
        output = self.good(M1, M2, NONE)
        self.assertIn("killed: M1", output)
        self.assertIn("unit.box m02_: FAIL m02_refuses", output)
        self.assertIn("2 mutants, 0 complaints", output)

    def test_the_sources_and_the_build_are_left_alone(self):
        before = os.stat(os.path.join(self.build, "several")).st_mtime_ns
        self.good(M1, M2, NONE)
        self.assertEqual(
            os.stat(os.path.join(self.build, "several")).st_mtime_ns, before)
        with open(os.path.join(self.root, "src/core/box.c"),
                  encoding="utf-8") as file:
            self.assertEqual(file.read(), FILES["src/core/box.c"])

    def test_a_header_and_all_that_includes_it(self):
        self.assertIn("killed: M1", self.good(HEADER, M2, NONE))

    def test_a_test_that_includes_the_source(self):
        text = FILES["tests/unit/box.c"]
        self.write("tests/unit/box.c",
                   text.replace('"core/box.h"', '"core/box.c"'))
        try:
            self.assertIn("killed: M1", self.good(M1, M2, NONE))
        finally:
            self.write("tests/unit/box.c", text)

    def test_a_survivor(self):
        self.bad("M2: src/core/box.c: survived: tried unit.box m02_", M1,
                 M2.replace("< -9", "< -1"), NONE)

    def test_the_test_of_another_row_does_not_count(self):
        self.bad("M2: src/core/box.c: survived", M1,
                 M1.replace("M1 ", "M2 "), NONE)

    def test_a_test_that_is_named_in_the_list(self):
        self.good(M1, M1.replace("box.c", "box.c m01_opens").replace(
            "M1 ", "M2 "), NONE)

    def test_a_time_out_is_a_failure(self):
        self.good(M1.replace("return 7", "for (;;)"), M2, NONE,
                  options=("--row", "M1", "--seconds", "1"))

    # ---- processes that a mutant leaves ----

    def strays(self):
        """The processes that were started, as far as they have said so."""
        try:
            with open(os.environ["STRAY"], encoding="utf-8") as file:
                return [int(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def no_stray_is_left(self, act):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["STRAY"] = os.path.join(folder, "pids")
            try:
                act()
                strays = self.strays()
                self.assertTrue(strays)
                self.assertTrue(eventually(
                    lambda: not any(map(is_there, strays))), strays)
            finally:
                for pid in filter(is_there, self.strays()):
                    os.kill(pid, signal.SIGKILL)
                del os.environ["STRAY"]

    def test_no_process_of_a_mutant_that_fails_is_left(self):
        self.no_stray_is_left(lambda: self.good(
            STRAY_FAILS, M2, NONE, options=("--row", "M1")))

    def test_no_process_of_a_mutant_that_hangs_is_left(self):
        self.no_stray_is_left(lambda: self.good(
            STRAY_HANGS, M2, NONE, options=("--row", "M1", "--seconds", "1")))

    def interrupted(self, signo):
        """The tool as a program, which gets a signal while a mutant hangs."""
        self.write("tests/rows.txt", "\n".join((STRAY_HANGS, M2, NONE)))
        tool = subprocess.Popen(
            [sys.executable, row_mutants.__file__, "--root", self.root,
             "--build", self.build, "--row", "M1", "--seconds", "1000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.assertTrue(eventually(self.strays))
            tool.send_signal(signo)
            tool.wait(60)
        finally:
            tool.kill()
            tool.wait()

    def test_no_process_is_left_by_an_interrupted_tool(self):
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signo=signo):
                self.no_stray_is_left(lambda s=signo: self.interrupted(s))

    def test_an_interrupted_tool_removes_its_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TMPDIR"] = folder
            try:
                self.no_stray_is_left(lambda: self.interrupted(signal.SIGINT))
            finally:
                del os.environ["TMPDIR"]
            self.assertEqual(os.listdir(folder), [])

    def test_a_mutant_that_does_not_compile(self):
        self.bad("M1: src/core/box.c: error: ", M1.replace("7;", "no;"), M2,
                 NONE)

    def test_a_file_that_is_not_in_the_program(self):
        self.write("src/core/loose.c", "int loose;\n")
        self.bad("unit.box m01_ is not made of src/core/loose.c",
                 "M1 src/core/loose.c\n-int loose;\n+int tight;\n", M2, NONE)

    def test_a_test_that_fails_without_the_mutant(self):
        text = FILES["tests/unit/box.c"]
        self.write("tests/unit/box.c", text.replace("== 3", "== 4"))
        try:
            self.bad("unit.box m01_ fails without the mutant", M1, M2, NONE)
        finally:
            self.write("tests/unit/box.c", text)

    def test_text_that_is_not_there(self):
        self.bad("M1: the old text is not in the file",
                 M1.replace("-\treturn", "-\tRETURN"), M2, NONE,
                 options=("--check",))

    def test_text_that_is_there_twice(self):
        self.write("src/core/twice.c", "int a;\n\nint a;\n")
        self.bad("M1: the old text is 2 times in the file",
                 "M1 src/core/twice.c\n-int a;\n+int b;\n", M2, NONE,
                 options=("--check",))

    def test_part_of_a_line_is_not_the_text(self):
        self.bad("M1: the old text is not in the file",
                 M1.replace("lid(value);", "lid"), M2, NONE,
                 options=("--check",))

    def test_a_row_without_a_mutant(self):
        self.bad("M2 has no mutant", M1, NONE, options=("--check",))

    def test_a_row_that_still_lacks_one(self):
        self.assertIn("1 rows lack", self.good(M1, NONE, "? M2\n",
                                               options=("--check",)))
        self.bad("M2 has a mutant, and is said to have none", M1, M2, NONE,
                 "? M2\n", options=("--check",))

    def test_a_row_with_tests_needs_a_mutant(self):
        self.bad("M2 has tests", M1, NONE, "M2 -\n= For no good reason.\n",
                 options=("--check",))

    def test_a_row_without_a_reason(self):
        self.bad("R-S1: no reason", M1, M2, "R-S1 -\n", options=("--check",))

    def test_a_row_that_is_not_on_the_page(self):
        self.bad("M9 is no row", M1, M2, NONE, M1.replace("M1 ", "M9 "),
                 options=("--check",))

    def test_a_test_that_is_not_there(self):
        self.bad("M1: there is no test m03_x", M1.replace(
            "box.c", "box.c m03_x"), M2, NONE)

    def test_a_row_that_is_asked_for_and_has_none(self):
        self.bad("no mutant for M2", M1, NONE, "? M2\n",
                 options=("--row", "M2"))

    def test_a_sample_is_the_same_for_the_same_seed(self):
        options = ("--sample", "1", "--seed", "4")
        first = self.good(M1, M2, NONE, options=options)
        self.assertIn("1 mutants, 0 complaints", first)
        again = self.good(M1, M2, NONE, options=options)
        self.assertEqual("killed: M1" in first, "killed: M1" in again)

    def test_what_is_proven_is_recorded(self):
        path = os.path.join(self.root, "proof")
        os.environ["SLEY_PROOF"] = path
        try:
            self.good(M1, M2, NONE)
        finally:
            del os.environ["SLEY_PROOF"]
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([(line["row"], line["verdict"]) for line in lines],
                         [("M1", "killed"), ("M2", "killed")])


if __name__ == "__main__":
    unittest.main()
