#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_mutants - the tool finds all operations, and says what it must of them.

The model is a function here that answers as model_x --sites and --mutate do.
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import mutants

SOURCE = """\
/* SPDX-License-Identifier: MIT */
/* box.c - load_acquire(&not_code) */
void send(struct box *box)
{
	store_relaxed(&box->data, 1);
	store_release(&box->full, 1);
}

int receive(struct box *box)
{
	uint32_t empty = 0;

	if (!load_acquire(&box->full))
		return 0;
	(void)cas_acq_rel_acquire(
		&box->slot[index(box, 1)],
		&empty, 1);
	(void)add_acq_rel(&box->taken, 1);
	(void)add_acq_rel(&box->taken, 1);
	os_futex_wake(&box->full, 1);
	os_membarrier();
	return load_seq_cst(&box->full);
}
"""

HEADER = """\
/* SPDX-License-Identifier: MIT */
static inline bool sley_box_try(struct sley_box *box)
{
	return __atomic_compare_exchange_n(&box->word, &word, 2, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
"""

# What the model comes by: all of receive() but the second of two.
SITES = ((13, "load_acquire", "&box->full", "load"),
         (17, "cas_acq_rel_acquire", "&box->slot[index(box, 1)]", "cas"),
         (18, "add_acq_rel", "&box->taken", "rmw"),
         (20, "futex_wake", "&box->full", "wake"),
         (21, "membarrier", "", "barrier"),
         (22, "load_seq_cst", "&box->full", "load"))


class Mutants(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        self.write("src/box.c", SOURCE)
        self.write("include/sley/box.h", HEADER)
        os.chmod(self.write("b/tests/model/model_box", ""), 0o700)
        self.killed = []
        self.baseline = "nothing"  # what it fails with by itself, at once
        self.deep = "nothing"      # ... and in the search of the mutant
        self.sites = SITES
        self.asked = []            # mode and search, of mutants
        self.run_model, mutants.run_model = mutants.run_model, self.answer

    def tearDown(self):
        mutants.run_model = self.run_model
        self.folder.cleanup()
        os.environ.pop("SLEY_PROOF", None)

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def kill(self, *lines):
        """Parts of "SITE:KIND,mode", each with how it is killed."""
        self.killed = [line.partition(" ") for line in lines]

    def answer(self, program, *arguments, seconds=0):
        """What the model would print, and its status."""
        mode = arguments[arguments.index("--mode") + 1]
        if "--sites" in arguments and "--slow" in arguments:
            return "", 0
        if "--sites" in arguments:
            failure = self.deep if "=first" in arguments else self.baseline
            return "".join(
                [f"model\tfirst\t{mode}\t2\t0.001\t{failure}\n"] +
                [f"site\tfirst\t../src/box.c:{line}\t{name}\t{expression}\t"
                 f"{shape}\t7\n"
                 for line, name, expression, shape in self.sites]), 0
        mutant = arguments[arguments.index("--mutate") + 1] + "," + mode
        self.asked.append((mode, *arguments[3:5]))
        verdict = "lives"
        for part, _, how in self.killed:
            if part not in mutant:
                continue
            if how == "crash":
                return "", -11
            verdict = how or "killed"
            if how == "late":
                verdict = "limit" if "100" in arguments else "killed"
        return "\t".join(("mutant", verdict, "first", mode, "5", "3", "1",
                          "assertion", "box.c:1: x")), verdict == "killed"

    def equivalent(self, *entries):
        self.write(mutants.EQUIVALENT, "# why\n" + "\n\n".join(
            f"{e}\n    It cannot be seen." for e in entries))

    def run_tool(self, *arguments):
        argv, sys.argv = sys.argv, ["mutants", "--root", self.root, "--build",
                                    os.path.join(self.root, "b"), *arguments]
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                status = mutants.main()
        finally:
            sys.argv = argv
        return status, out.getvalue()

    # ---- reading --------------------------------------------------------------

    def test_finds_operations_and_what_can_be_wrong_with_them(self):
        found = [(op.function, op.text(), op.nth, op.line, op.last_line,
                  " ".join(op.kinds()))
                 for op in mutants.all_operations(self.root)]
        self.assertEqual(found, [
            ("sley_box_try", "__atomic_compare_exchange_n(&box->word)", 1, 4,
             5, "relaxed split succeed"),
            ("send", "store_relaxed(&box->data)", 1, 5, 5, "late"),
            ("send", "store_release(&box->full)", 1, 6, 6, "relaxed late"),
            ("receive", "load_acquire(&box->full)", 1, 13, 13, "relaxed"),
            ("receive", "cas_acq_rel_acquire(&box->slot[index(box,1)])", 1,
             15, 17, "relaxed no-acquire no-release no-failure split "
             "succeed"),
            ("receive", "add_acq_rel(&box->taken)", 1, 18, 18,
             "relaxed no-acquire no-release split"),
            ("receive", "add_acq_rel(&box->taken)", 2, 19, 19,
             "relaxed no-acquire no-release split"),
            ("receive", "os_futex_wake(&box->full)", 1, 20, 20, "skip"),
            ("receive", "os_membarrier()", 1, 21, 21, "skip"),
            ("receive", "load_seq_cst(&box->full)", 1, 22, 22,
             "relaxed no-total")])

    def test_lists_them_with_the_models_that_come_by(self):
        status, text = self.run_tool("--list")
        self.assertEqual(status, 0)
        self.assertIn("src/box.c:13 receive load_acquire(&box->full) relaxed: "
                      "1 models", text)
        self.assertIn("src/box.c:6 send store_release(&box->full): no model",
                      text)

    def test_a_place_that_is_no_operation_is_an_error(self):
        self.sites = ((7, "membarrier", "", "barrier"),)
        status, text = self.run_tool("--only", "nothing")
        self.assertEqual(status, 1)
        self.assertIn("src/box.c:7: no operation of the source", text)

    def test_a_model_that_fails_by_itself_is_an_error_and_kills_nothing(self):
        self.baseline = "race"
        self.kill("src/box.c")
        status, text = self.run_tool("--only", "src/box.c:13")
        self.assertEqual(status, 1)
        self.assertIn("fails without a mutant: race (sc)", text)
        self.assertIn("relaxed survives", text)

    def test_so_is_one_that_fails_by_itself_if_one_looks_longer(self):
        self.deep = "race"
        self.kill("src/box.c")
        status, text = self.run_tool("--only", "src/box.c:13")
        self.assertEqual(status, 1)
        self.assertIn("fails without a mutant: race (ra)", text)
        self.assertIn("relaxed survives", text)

    # ---- judging --------------------------------------------------------------

    def test_what_a_model_fails_with_is_killed(self):
        self.kill("src/box.c:13,load_acquire,&box->full:relaxed,ra")
        status, text = self.run_tool("--only", "src/box.c:13", "--verbose")
        self.assertEqual(status, 0, text)
        self.assertIn("killed: src/box.c:13 receive load_acquire(&box->full) "
                      "relaxed: model_box first (ra): assertion", text)

    def test_orders_are_looked_at_in_ra_only(self):
        self.kill("src/box.c:13,load_acquire,&box->full:relaxed,sc")
        self.assertEqual(self.run_tool("--only", "src/box.c:13")[0], 1)

    def test_what_survives_is_an_error(self):
        status, text = self.run_tool("--only", "src/box.c:20")
        self.assertEqual(status, 1)
        self.assertIn("src/box.c:20: receive: os_futex_wake(&box->full): skip "
                      "survives", text)

    def test_what_is_found_late_is_killed_too(self):
        self.kill("src/box.c:20 late")
        self.assertEqual(self.run_tool("--only", "src/box.c:20")[0], 0)

    def test_a_search_that_was_complete_is_not_made_again(self):
        self.kill("skip,tso limit", "skip,ra limit")
        self.run_tool("--only", "src/box.c:20")
        self.assertEqual([mode for mode, *search in self.asked
                          if search == ["--limit", "100"]],
                         ["sc", "tso", "ra"])
        self.assertEqual([mode for mode, *search in self.asked
                          if search == ["--limit", "2000"]], ["tso", "ra"])
        # At random there is more than a search with a bound has.
        self.assertEqual([mode for mode, *search in self.asked
                          if search == ["--random", "1000"]],
                         ["sc", "tso", "ra"])

    def test_a_crash_kills(self):
        self.kill("src/box.c:20 crash")
        status, text = self.run_tool("--only", "src/box.c:20", "--verbose")
        self.assertEqual(status, 0)
        self.assertIn("(sc): crash", text)

    def test_a_model_that_is_not_deterministic_any_more_does_not_kill(self):
        self.kill("src/box.c:20 unstable")
        status, text = self.run_tool("--only", "src/box.c:20")
        self.assertEqual(status, 1)
        self.assertIn("became unstable", text)

    def test_what_survives_may_be_listed_with_an_argument(self):
        self.equivalent("src/box.c receive os_futex_wake(&box->full) skip")
        status, text = self.run_tool("--only", "src/box.c:20", "--json")
        self.assertEqual(status, 0, text)
        self.assertEqual(json.loads(text.split("\n")[0])["verdict"],
                         "equivalent")

    def test_what_is_listed_and_killed_is_an_error(self):
        self.equivalent("src/box.c receive os_futex_wake(&box->full) skip")
        self.kill("src/box.c:20")
        status, text = self.run_tool("--only", "src/box.c:20")
        self.assertEqual(status, 1)
        self.assertIn("equivalent.txt:2: skip is killed by model_box", text)

    # ---- equivalent.txt -------------------------------------------------------

    def test_entries_are_checked_against_the_sources(self):
        for entry, status in (
                ("src/box.c receive os_membarrier() skip", 0),
                ("src/box.c receive add_acq_rel(&box->taken)#2 split", 0),
                ("src/box.c receive #3 split,relaxed", 0),
                ("src/box.c * * uncovered", 0),
                ("src/box.c receive os_membarrier() split", 1),
                ("src/box.c receive add_acq_rel(&box->taken)#3 split", 1),
                ("src/box.c accept os_membarrier() skip", 1),
                ("src/bag.c receive os_membarrier() skip", 1)):
            self.equivalent(entry)
            self.assertEqual(self.run_tool("--check")[0], status, entry)

    def test_an_entry_needs_four_fields_and_an_argument(self):
        self.write(mutants.EQUIVALENT, "src/box.c receive os_membarrier()\n")
        self.assertIn("not: file", self.run_tool("--check")[1])
        self.write(mutants.EQUIVALENT,
                   "src/box.c receive os_membarrier() skip\n    Because.\n")
        self.assertIn("no argument", self.run_tool("--check")[1])
        self.write(mutants.EQUIVALENT, "    An argument for nothing.\n")
        self.assertIn("without an entry", self.run_tool("--check")[1])

    def test_what_no_model_comes_by_must_be_listed(self):
        self.kill("src/box.c")
        status, text = self.run_tool()
        self.assertEqual(status, 1)
        self.assertIn("src/box.c:6: send: no model comes by "
                      "store_release(&box->full)", text)
        everything = ["src/box.c send * uncovered",
                      "src/box.c receive add_acq_rel(&box->taken)#2 uncovered",
                      "include/sley/box.h * * uncovered"]
        self.equivalent(*everything)
        status, text = self.run_tool()
        self.assertEqual(status, 0, text)
        self.equivalent(*everything, "src/box.c receive #1 uncovered")
        status, text = self.run_tool()
        self.assertEqual(status, 1)
        self.assertIn("a model comes by all of that", text)

    # ---- the rest -------------------------------------------------------------

    def test_a_sample_is_judged_quickly_and_asks_for_no_more(self):
        self.kill("src/box.c late", "src/box.c:18")
        status, text = self.run_tool("--sample", "3", "--verbose")
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count("killed: "), 3, text)

    def test_a_sample_that_survives_for_good_is_an_error(self):
        self.assertEqual(self.run_tool("--sample", "3")[0], 1)

    def test_leaves_a_line_for_each_where_somebody_counts(self):
        os.environ["SLEY_PROOF"] = os.path.join(self.root, "proof")
        self.kill("src/box.c:20")
        self.run_tool("--only", "src/box.c:20")
        with open(os.environ["SLEY_PROOF"], encoding="utf-8") as file:
            line = json.loads(file.read())
        self.assertEqual(
            (line["kind"], line["site"], line["mutation"], line["verdict"],
             line["killed_by"], line["executions"]),
            ("mutant", "src/box.c:20", "skip", "killed",
             "model_box first (sc): assertion", 5))

    def test_a_model_ends_with_the_tool(self):
        tool = subprocess.Popen(
            [sys.executable, "-c", "import mutants; mutants.run_model("
             "'sh', '-c', 'echo $$ >\"$0\"; exec sleep 1000', "
             "'" + os.path.join(self.root, "pid") + "')"],
            cwd=os.path.dirname(mutants.__file__))
        try:
            self.assertTrue(eventually(self.noted))
        finally:
            tool.kill()
            tool.wait()
        pid = self.noted()
        self.assertTrue(eventually(
            lambda: not os.path.exists(f"/proc/{pid}")))

    def noted(self):
        try:
            with open(os.path.join(self.root, "pid"), encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""


def eventually(condition):
    """Whether it comes true; long enough for a machine that is busy."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


if __name__ == "__main__":
    unittest.main()
