#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_count_fork - instructions per fork, from counts that are known."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "count_fork.py")

# Stands for valgrind: counts what it is told for each form.  fib(n) costs
# 1000 for the start and then so much per fork; nqueens twice its size.
VALGRIND = '''#!/usr/bin/env python3
import os, subprocess, sys
problem, form, size = sys.argv[-3:]
def fibonacci(nth):
    a, b = 0, 1
    for _ in range(nth):
        a, b = b, a + b
    return a
each = float(os.environ["EACH_" + form.upper()])
if problem == "fib":
    count = 1000 + each * (fibonacci(int(size) + 1) - 1)
    answer = fibonacci(int(size))
else:
    count = 5000 + each * int(size)
    answer = 4
print(answer + int(os.environ.get("WRONG", 0)))
print("==1== Collected : %d" % count, file=sys.stderr)
'''
PROGRAM = '''#!/bin/sh
case $2 in %s) exit 0 ;; *) exit 2 ;; esac
'''


class Count(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.write("valgrind", VALGRIND)

    def write(self, name, text):
        path = os.path.join(self.directory.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def count(self, forms="serial|plain|inline", **environment):
        program = self.write("program", PROGRAM % forms)
        path = self.directory.name + ":" + os.environ["PATH"]
        environment = {"EACH_SERIAL": "20", "EACH_INLINE": "21",
                       "EACH_PLAIN": "65", **environment}
        return subprocess.run(
            [sys.executable, TOOL, program], capture_output=True, text=True,
            check=False, env={**os.environ, "PATH": path, **environment})

    def test_a_start_cancels_out(self):
        run = self.count()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"fib, serial, each fork +20\.0\n")
        self.assertRegex(run.stdout, r"fib, plain.* 65\.0  <= 65    ok\n")
        self.assertRegex(run.stdout, r"inline / serial +1\.050  <= 1\.05  ok")

    def test_a_missed_bar_fails(self):
        for form, each in (("PLAIN", "65.1"), ("INLINE", "21.1"),
                           ("INLINE", "45.1")):
            run = self.count(**{"EACH_" + form: each})
            self.assertEqual(run.returncode, 1)
            self.assertIn("missed", run.stdout)

    def test_a_wrong_answer_fails(self):
        run = self.count(WRONG="1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("in place of", run.stderr)

    def test_a_library_without_a_form_is_counted_without_it(self):
        run = self.count(forms="serial|plain")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("inline", run.stdout)


if __name__ == "__main__":
    unittest.main()
