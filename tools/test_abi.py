#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_abi - abi.py tells a compatible change from one that is not.

A small library is compiled, its interface written down, and then each test
changes one thing.
"""
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import abi

TOOLS = os.path.dirname(os.path.abspath(__file__))

HEADER = """\
/* SPDX-License-Identifier: MIT */
struct sley_secret;

struct sley_box {
\tint lid;
\tstruct sley_secret *secret;
};

enum sley_colour { SLEY_RED, SLEY_BLUE };

int sley_open(struct sley_box *box, enum sley_colour colour);
void sley_close(struct sley_box *box);
/* more functions */
"""

# Private, and in a file that is called like the public one.
PRIVATE = """\
struct sley_secret {
\tint depth;
};
"""

SOURCE = """\
#include <sley/box.h>
#include "core/box.h"

int sley_open(struct sley_box *box, enum sley_colour colour)
{
\treturn box->lid + box->secret->depth + (int)colour;
}

void sley_close(struct sley_box *box)
{
\tbox->lid = 0;
}
/* more */
"""


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.baseline = os.path.join(cls.folder.name, "box.abi")
        status, output = cls.run_on("write", {})
        assert status == 0, output

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_on(cls, command, change, *flags):
        """abi.py on a library in which the keys of change are replaced."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in (("include/sley/box.h", HEADER),
                               ("src/core/box.h", PRIVATE),
                               ("src/api/box.c", SOURCE)):
                for old, new in change.items():
                    text = text.replace(old, new)
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            library = os.path.join(root, "libbox.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-g", *flags, "-I",
                            os.path.join(root, "include"), "-I",
                            os.path.join(root, "src"), "-o", library,
                            os.path.join(root, "src/api/box.c")], check=True)
            done = subprocess.run(
                [sys.executable, os.path.join(TOOLS, "abi.py"), command,
                 "--root", root, "--library", library,
                 "--baseline", cls.baseline], text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout

    def accepts(self, change, *flags):
        status, output = self.run_on("check", change, *flags)
        self.assertEqual(status, 0, output)
        return output

    def rejects(self, complaint, change):
        status, output = self.run_on("check", change)
        self.assertIn(complaint, output)
        self.assertEqual(status, 1, output)

    def test_the_same(self):
        self.accepts({})

    def test_other_options_of_the_compiler(self):
        self.accepts({}, "-O2", "-fno-omit-frame-pointer")

    def test_no_place_is_written_down(self):
        with open(self.baseline, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn(tempfile.gettempdir(), text)
        self.assertNotIn("depth", text)

    def test_new_function(self):
        output = self.accepts({
            "/* more functions */": "void sley_paint(void);",
            "/* more */": "void sley_paint(void) { }"})
        self.assertIn("not in the baseline yet: sley_paint", output)

    def test_private_type_may_change(self):
        self.accepts({"int depth;": "long width; int depth;"})

    def test_removed_function(self):
        self.rejects("sley_close", {"void sley_close":
                                    "static void sley_close"})

    def test_renamed_function(self):
        self.rejects("1 Removed", {"sley_close": "sley_shut"})

    def test_parameter(self):
        self.rejects("parameter 2", {"enum sley_colour colour)":
                                     "long colour)"})

    def test_result(self):
        self.rejects("return type changed", {"int sley_open":
                                             "long sley_open"})

    def test_larger_struct(self):
        self.rejects("type size changed",
                     {"int lid;": "int lid; int hinge[4];"})

    def test_field_of_another_type(self):
        self.rejects("lid", {"int lid;": "float lid;"})

    def test_value_of_an_enumerator(self):
        self.rejects("SLEY_BLUE", {"SLEY_BLUE": "SLEY_BLUE = 7"})

    def test_private_type_that_two_files_describe(self):
        unit = ("<abi-instr path='{}.c'>"
                "<class-decl name='sley_secret' id='1'><data-member>"
                "<var-decl name='depth' type-id='2'/></data-member>"
                "</class-decl><type-decl name='int' id='2'/>"
                "<pointer-type-def type-id='1' id='3'/>"
                "<function-decl name='f{}'><parameter type-id='3'/>"
                "</function-decl></abi-instr>")
        corpus = ElementTree.fromstring(
            "<abi-corpus>" + unit.format(1, 1) + unit.format(2, 2)
            + "</abi-corpus>")
        text = ElementTree.tostring(abi.tidy(corpus, set()),
                                    encoding="unicode")
        self.assertEqual(text.count("is-declaration-only"), 2)
        self.assertNotIn("depth", text)

    def test_without_debug_information(self):
        status, output = self.run_on("check", {}, "-g0")
        self.assertEqual(status, 77, output)


if __name__ == "__main__":
    unittest.main()
