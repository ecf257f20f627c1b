#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_checkers - each checker accepts a good tree and rejects each bad one.

A tree is a dictionary of files written to a temporary directory.  GOOD passes
all checkers; each test changes one thing in it and names the complaint that
must come, and the checker must come back to silence without the change.

The checkers are called, not started: a hundred starts of Python take longer
than all they check.  That they end with the right status as programs is a
test, too.
"""
import contextlib
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.abspath(__file__))

HEADER = """\
/* SPDX-License-Identifier: MIT */
/*
 * sley/box.h - a box.
 */
#ifndef SLEY_BOX_H
#define SLEY_BOX_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_box {
\tvoid (*report)(void *self, const char *line);
\tint value;
};

#define SLEY_BOX_INIT { NULL, 0 }

typedef void sley_fn(void *arg);

/*
 * sley_box_open - open it.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller, until
 *           the end
 * Order:    none
 * Errors:   -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_box_open(struct sley_box *box, int value);

/*
 * sley_box_wait - wait for it.
 *
 * Context:  any thread
 * Blocks:   the fiber
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_box_wait(struct sley_box *box);

/*
 * sley_box_wait_until - wait for it by a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber
 * Errors:   -ETIMEDOUT
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_box_wait_until(struct sley_box *box, unsigned long deadline_ns);

/*
 * sley_box_peek - look into it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline int
sley_box_peek(struct sley_box *box)
{
\treturn box->value;
}

SLEY_END_DECLS
#endif
"""

MAP = """\
/* SPDX-License-Identifier: MIT */
SLEY_0.1 {
\tglobal:
\t\tsley_box_open;
\t\tsley_box_wait;
\t\tsley_box_wait_until;
\tlocal:
\t\t*;
};
"""

API = """\
/* SPDX-License-Identifier: MIT */
/*
 * box.c - a box.  It does not call malloc() or futex: see "os/futex.h".
 */
#include "core/box.h"

#include <sley/box.h>

int sley_box_open(struct sley_box *box, int value)
{
\tbox->value = value;
\treturn 0;
}

void sley_box_wait(struct sley_box *box)
{
\tbox->report(box, "free(this)");
}

int sley_box_wait_until(struct sley_box *box, unsigned long deadline_ns)
{
\treturn box->value + (int)deadline_ns;
}
"""

CORE = """\
/* SPDX-License-Identifier: MIT */
/*
 * box.h - one word.
 *
 * Edges:
 *
 *   B1  put stores word  ->  get loads word : the value is written
 *   B2  leave  ->  the last leave           : everything before
 */
#include "base/atomic.h"

static inline void box_put(int *word)
{
\tstore_release(word, 1); /* B1 */
}

static inline int box_get(int *word)
{
\t/* relaxed: a guess. */
\tif (!load_relaxed(word))
\t\treturn 0;
\t/* B1: what was put is here now. */
\treturn load_acquire(word);
}

static inline int box_leave(int *word)
{
\treturn sub_acq_rel(word, 1) == 1; /* B2 */
}
"""

LAYERS = """\
# comment
base:
os:   base
core: base os
api:  base os core
"""

GOOD = {
    "include/sley/box.h": HEADER,
    "src/libsley.map": MAP,
    "src/api/box.c": API,
    "src/core/box.h": CORE,
    "src/base/atomic.h": "/* SPDX-License-Identifier: MIT */\n"
                         "#define load_acquire(p) "
                         "__atomic_load_n(p, __ATOMIC_ACQUIRE)\n",
    "src/os/futex.c": "/* SPDX-License-Identifier: MIT */\n"
                      "long f(long n)\n{\n"
                      "\treturn fault_errno(\"x\") ? -1 : syscall(n);\n}\n",
    "tools/layers.txt": LAYERS,
    "tools/owners.txt": "# comment\n",
    "tools/prose.txt": "# comment\n",
    "examples/one.c": "#include <sley/box.h>\n",
    "examples/CMakeLists.txt": "sley_example(one)\n",
    "tests/unit/box.c": "TEST(m01_a_box_opens)\n{\n}\n\n"
                        "TEST_ABORTS(m01_a_box_opens_once, \"misuse\")\n{\n}\n",
    "tests/unit/CMakeLists.txt": "sley_test(unit box)\n",
    "docs/CONFORMANCE.md": "| M1 | opens | `m01_*`, `unit.box` | |\n"
                           "| M2 | is for later | not done | |\n",
    "src/CMakeLists.txt": "set(SOURCES\n\tapi/box.c\n\tos/futex.c\n)\n",
}


class Checkers(unittest.TestCase):
    @staticmethod
    @contextlib.contextmanager
    def planted(tree):
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            shutil.copy(os.path.join(TOOLS, "..", ".clang-format"), root)
            yield root

    def check(self, checker, tree):
        module = importlib.import_module(checker)
        output, arguments = io.StringIO(), sys.argv
        with self.planted(tree) as root, contextlib.redirect_stdout(output):
            sys.argv = [checker + ".py", "--root", root]
            try:
                status = module.main()
            finally:
                sys.argv = arguments
        return status, output.getvalue()

    def accepts(self, checker, tree=None):
        status, output = self.check(checker, GOOD | (tree or {}))
        self.assertEqual(status, 0, output)

    def rejects(self, checker, complaint, path, old, new):
        """After replacing old by new in path (or adding it) it complains."""
        text = GOOD.get(path, "")
        self.assertIn(old, text)
        bad = text.replace(old, new, 1) if old else text + new
        status, output = self.check(checker, GOOD | {path: bad})
        self.assertIn(complaint, output)
        self.assertEqual(status, 1, output)



class Folders(Checkers):
    INNER = LAYERS.replace("core: base os\n", "core: base os\n"
                           "  core/a: core/b\n  core/b:\n")
    SPDX = "/* SPDX-License-Identifier: MIT */\n"

    def tree(self, a, b, layers=INNER):
        tree = {k: v for k, v in GOOD.items() if k != "src/core/box.h"}
        tree["src/api/box.c"] = tree["src/api/box.c"].replace(
            "core/box.h", "core/b/box.h")
        return tree | {"src/core/a/one.c": self.SPDX + a,
                       "src/core/b/box.h": GOOD["src/core/box.h"] + b,
                       "tools/layers.txt": layers}

    def test_a_folder_includes_the_sisters_that_are_listed(self):
        status, output = self.check("check_layers", self.tree(
            '#include "core/b/box.h"\n', ""))
        self.assertEqual(status, 0, output)

    def test_and_no_other_sister(self):
        status, output = self.check("check_layers", self.tree(
            '#include "core/b/box.h"\n', '#include "core/a/one.h"\n'))
        self.assertIn("'core/b' may not include 'core/a'", output)
        self.assertEqual(status, 1)

    def test_a_permission_that_is_not_used_is_an_error(self):
        status, output = self.check("check_layers", self.tree("", ""))
        self.assertIn("'core/a' includes nothing of 'core/b'", output)
        self.assertEqual(status, 1)

    def test_a_file_beside_the_folders_is_an_error(self):
        tree = self.tree('#include "core/b/box.h"\n', "")
        tree["src/core/stray.c"] = self.SPDX
        status, output = self.check("check_layers", tree)
        self.assertIn("'core' is not in", output)
        self.assertEqual(status, 1)


class Prose(Checkers):
    PATH = "src/api/box.c"

    def rejects_comment(self, complaint, comment):
        self.rejects("check_prose", complaint, self.PATH, "",
                     f"\n/* {comment} */\n")

    def test_who_needs_a_noun(self):
        self.rejects_comment("name the role", "Who waits here is woken.")
        self.rejects_comment("name the role", "It is taken by whoever comes.")
        status, output = self.check("check_prose", GOOD | {
            self.PATH: GOOD[self.PATH] + "/* The waiter who comes first. */\n"})
        self.assertEqual(status, 0, output)

    def test_things_have_names(self):
        self.rejects_comment("name the thing",
                             "That one is for those who want that one.")

    def test_pronouns_are_counted(self):
        self.rejects_comment("pronouns", "It is what they want of it. " * 20)

    def test_documents_are_read_but_not_their_programs(self):
        self.rejects("check_prose", "name the role", "README.md", "",
                     "# box\n\nFor who opens it.\n")
        status, output = self.check("check_prose", GOOD | {
            "README.md": "# box\n\n```c\n/* for who opens */\n```\n"})
        self.assertEqual(status, 0, output)

    def test_the_list_may_only_become_shorter(self):
        bad = GOOD[self.PATH] + "/* Who waits? */\n"
        pending = {"tools/prose.txt": self.PATH + "\n"}
        status, output = self.check("check_prose",
                                    GOOD | pending | {self.PATH: bad})
        self.assertEqual(status, 0, output)
        status, output = self.check("check_prose", GOOD | pending)
        self.assertIn("passes: take it out", output)
        self.assertEqual(status, 1)
        self.rejects("check_prose", "is not there", "tools/prose.txt", "",
                     "src/gone.c\n")


class Owners(Checkers):
    HEADER = ("/* SPDX-License-Identifier: MIT */\n"
              "struct lid {\n\tint word;\n};\n")
    USER = ("#include \"core/lid.h\"\n"
            "static int look(struct lid *lid)\n{\n"
            "\t/* relaxed: a guess. */\n"
            "\treturn load_relaxed(&lid->word);\n}\n")

    def tree(self, user, owners="# comment\n"):
        return GOOD | {"src/core/lid.h": self.HEADER, user: self.USER,
                       "tools/owners.txt": owners}

    def test_a_struct_is_touched_in_its_own_pair_of_files(self):
        status, output = self.check("check_owners",
                                    self.tree("src/core/lid.c"))
        self.assertEqual(status, 0, output)

    def test_elsewhere_it_is_an_error(self):
        status, output = self.check("check_owners",
                                    self.tree("src/core/pot.c"))
        self.assertIn("lid.word belongs to core/lid", output)
        self.assertEqual(status, 1)

    def test_unless_it_is_listed_with_a_reason(self):
        listed = "lid.word core/pot.c\n    A pot looks under its lid.\n"
        status, output = self.check("check_owners",
                                    self.tree("src/core/pot.c", listed))
        self.assertEqual(status, 0, output)
        status, output = self.check(
            "check_owners", self.tree("src/core/pot.c",
                                      "lid.word core/pot.c\n"))
        self.assertIn("no reason", output)
        self.assertEqual(status, 1)

    def test_a_line_that_is_not_needed_is_an_error(self):
        listed = "lid.word core/pot.c\n    A pot looks under its lid.\n"
        status, output = self.check("check_owners",
                                    self.tree("src/core/lid.c", listed))
        self.assertIn("core/pot does not touch it", output)
        self.assertEqual(status, 1)

    def test_a_struct_may_have_its_home_elsewhere(self):
        home = "home lid core/pot.c\n"
        status, output = self.check("check_owners",
                                    self.tree("src/core/pot.c", home))
        self.assertEqual(status, 0, output)


class Good(Checkers):
    def test_a_good_tree_passes_every_checker(self):
        for name in ("layers", "api", "orders", "size", "banned", "format",
                     "listed", "rows", "faults", "errors", "owners",
                     "prose"):
            with self.subTest(name):
                self.accepts("check_" + name)

    def test_an_empty_tree_passes_no_checker(self):
        for name in ("orders", "size", "banned", "format", "listed",
                     "faults", "errors"):
            with self.subTest(name):
                status, output = self.check("check_" + name, {"x/y": ""})
                self.assertEqual(status, 1, output)


    def test_each_is_a_program_with_a_status(self):
        for name in ("layers", "api", "orders", "size", "banned", "format",
                     "listed", "rows", "faults", "errors", "owners",
                     "prose"):
            program = os.path.join(TOOLS, f"check_{name}.py")
            for tree, status in ((GOOD, 0), ({"x/y": ""}, 1)):
                with self.subTest(name, status=status), \
                     self.planted(tree) as root:
                    done = subprocess.run(
                        [sys.executable, program, "--root", root],
                        check=False, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, status)


class Layers(Checkers):
    def test_upward_include(self):
        self.rejects("check_layers", "'core' may not include 'api'",
                     "src/core/box.h", '"base/atomic.h"', '"api/box.h"')

    def test_indented_include(self):
        self.rejects("check_layers", "'core' may not include 'api'",
                     "src/core/box.h", "", '#  include "api/box.h"\n')

    def test_unknown_folder(self):
        self.rejects("check_layers", "'misc' is not in",
                     "src/misc/x.c", "", "int x;\n")

    def test_include_without_folder(self):
        self.rejects("check_layers", "include paths start in src/",
                     "src/core/box.h", '"base/atomic.h"', '"atomic.h"')

    def test_include_by_relative_path(self):
        self.rejects("check_layers", "include paths start in src/",
                     "src/core/box.h", '"base/atomic.h"', '"../api/a.h"')

    def test_cycle_in_the_table(self):
        self.rejects("check_layers", "'base' may include 'core'",
                     "tools/layers.txt", "base:\n", "base: core\n")

    def test_public_header_includes_a_system_header(self):
        self.rejects("check_layers", "public header includes pthread.h",
                     "include/sley/box.h", "<sley/compiler.h>", "<pthread.h>")

    def test_example_looks_inside(self):
        self.rejects("check_layers", "only installed headers",
                     "examples/one.c", "<sley/box.h>", '"core/box.h"')


class Api(Checkers):
    def bad(self, complaint, old, new):
        self.rejects("check_api", complaint, "include/sley/box.h", old, new)

    def test_no_context_word(self):
        self.bad("sley_box_wait: 0 words for who may call it",
                 "SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void",
                 "SLEY_BLOCKS_FIBER void")

    def test_two_context_words(self):
        self.bad("sley_box_wait: 2 words for who may call it",
                 "SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void",
                 "SLEY_ANY_THREAD SLEY_TASK_ONLY SLEY_BLOCKS_FIBER void")

    def test_no_blocking_word(self):
        self.bad("sley_box_peek: 0 words for what it blocks",
                 "SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static",
                 "SLEY_ANY_THREAD static")

    def test_not_exported(self):
        self.bad("either SLEY_EXPORT or static inline",
                 "SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void",
                 "SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void")

    def test_comment_names_another_function(self):
        self.bad("no comment 'sley_box_open", " * sley_box_open - open",
                 " * sley_box_close - open")

    def test_comment_is_not_directly_above(self):
        self.bad("no comment 'sley_box_wait -",
                 "none\n */\nSLEY_EXPORT", "none\n */\n\nSLEY_EXPORT")

    def test_no_errors_line(self):
        self.bad("no line 'Errors:'", " * Errors:   -ENOMEM\n", "")

    def test_wrong_order_of_lines(self):
        self.bad("wanted once", " * Context:  any thread\n * Blocks:   never",
                 " * Blocks:   never\n * Context:  any thread")

    def test_line_given_twice(self):
        self.bad("wanted once", " * Order:    none\n",
                 " * Order:    none\n * Order:    some\n")

    def test_blocks_line_contradicts_the_word(self):
        self.bad("disagree", " * Blocks:   never", " * Blocks:   the fiber")

    def test_fallible_function_is_unchecked(self):
        self.bad("can fail, but is not SLEY_MUST_CHECK",
                 "SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int",
                 "SLEY_NEVER_BLOCKS int")

    def test_wait_without_twin(self):
        self.bad("sley_box_wait: waits, but has no _until twin",
                 "sley_box_wait_until(", "sley_box_later_until(")

    def test_exported_but_not_in_the_map(self):
        self.rejects("check_api", "is exported, but not in",
                     "src/libsley.map", "\t\tsley_box_wait;\n", "")

    def test_in_the_map_but_in_no_header(self):
        self.rejects("check_api", "sley_box_old is in no public header",
                     "src/libsley.map", "sley_box_wait;\n",
                     "sley_box_wait;\n\t\tsley_box_old;\n")

    def test_map_exports_everything(self):
        self.rejects("check_api", "has no 'local: *;'",
                     "src/libsley.map", "*;", "foo*;")

    def test_not_defined(self):
        self.rejects("check_api", "sley_box_wait is defined 0 times",
                     "src/api/box.c", "void sley_box_wait(", "void wait(")


class Orders(Checkers):
    def bad(self, complaint, old, new):
        self.rejects("check_orders", complaint, "src/core/box.h", old, new)

    def test_ordered_operation_without_edge(self):
        self.bad("store_release() names no edge", " /* B1 */", "")

    def test_ordered_operation_with_an_undeclared_edge(self):
        self.bad("store_release() names no edge", "/* B1 */", "/* B7 */")

    def test_edge_without_operation(self):
        self.bad("edge B3 has one end", " */\n#include",
                 " *   B3  nobody  ->  nothing : nil\n */\n#include")

    def test_edge_that_nothing_acquires(self):
        self.bad("edge B1 has one end: nothing that acquires",
                 "load_acquire(word)", "0")

    def test_edge_that_nothing_releases(self):
        self.bad("edge B1 has one end: nothing that releases",
                 "store_release(word, 1); /* B1 */", "*word = 1;")

    def test_relaxed_without_reason(self):
        self.bad("does not say 'relaxed: why'", "relaxed: a", "a")

    def test_comment_of_the_neighbour_does_not_count(self):
        self.bad("store_release() names no edge",
                 "\tstore_release(word, 1); /* B1 */",
                 "\tstore_release(word, 1);\n\tfoo(); /* B1 */")

    def test_split_statement_may_carry_it_on_its_last_line(self):
        self.accepts("check_orders", {"src/core/box.h": CORE.replace(
            "store_release(word, 1); /* B1 */",
            "store_release(word,\n\t\t      1); /* B1 */")})

    def test_edge_of_another_file(self):
        other = ("/* SPDX-License-Identifier: MIT */\n"
                 "/*\n * two.c - two.\n *\n *   B1  see core/box.h\n */\n"
                 "int two(int *word)\n{\n"
                 "\treturn load_acquire(word); /* B1 */\n}\n")
        self.accepts("check_orders", {"src/core/two.c": other})
        self.rejects("check_orders", "core/bag.h declares no B1",
                     "src/core/two.c", "",
                     other.replace("core/box.h", "core/bag.h"))


    OTHER = """\
/* SPDX-License-Identifier: MIT */
/*
 * two.h - two words.
 *
 *   C1  one -> the other : all of it
 */
static inline void two(int *word)
{
\t(void)add_acq_rel(word, 1); /* C1 */
}
"""

    def two(self, complaint, old, new, path="src/core/two.h"):
        self.assertIn(old, self.OTHER)
        status, output = self.check("check_orders", GOOD | {
            path: self.OTHER.replace(old, new)})
        self.assertIn(complaint, output)
        self.assertEqual(status, complaint != "", output)

    def test_name_of_two_edges(self):
        self.two("", "C1", "C1")
        self.two("edge B1: the letters B belong to the edges of "
                 "src/core/box.h", "C1", "B1")

    def test_letters_of_two_files(self):
        self.two("edge B7: the letters B belong to", "C1", "B7")
        self.two("", "C1", "BB1")

    def test_edge_of_a_header_and_its_source(self):
        self.two("edge B2 is in src/core/box.c, too", "C1", "B2",
                 "src/core/box.c")

    def test_reference_without_a_path(self):
        self.two("edge B1: say 'see' and a path from src/",
                 " */\nstatic", " *   B1  see box.h\n */\nstatic")

    def test_edge_of_others_that_is_not_said_to_be(self):
        self.two("src/core/two.h:9: B1 is an edge of core/box: say 'B1 of",
                 "/* C1 */", "/* C1, and relaxed: B1. */")
        self.two("src/core/two.h:3: B2 is an edge of core/box: say 'B2 of",
                 "two words", "two words, see B2")

    def test_edge_of_others_that_is_said_to_be(self):
        for words in ("B1 of core/box.h", "B1 of box.h",
                      "B1 and B2 of core/box.h", "C1, B1 of box.h",
                      "B1 of\n * core/box.h"):
            self.two("", "two words", words)

    def test_edge_that_the_named_file_does_not_have(self):
        for words in ("B1 of core/bag.h", "B3 of core/box.h",
                      "B1 or C1 of box.h"):
            self.two("declares no ", "two words", words)

    def test_edge_of_others_is_no_end(self):
        tree = {"src/core/box.h": CORE.replace("load_acquire(word)", "0"),
                "src/core/two.h": self.OTHER.replace(
                    "/* C1 */", "/* C1, B1 of core/box.h */")}
        status, output = self.check("check_orders", GOOD | tree)
        self.assertIn("edge B1 has one end", output)
        self.assertEqual(status, 1)

    def test_name_that_nothing_declares(self):
        self.two("src/core/two.h:9: nothing declares D4", "/* C1 */",
                 "/* C1 and D4 */")


class Size(Checkers):
    def test_long_file(self):
        self.rejects("check_size", "more than 800", "src/api/long.c", "",
                     "int x;\n" * 801)

    def test_long_function(self):
        self.rejects("check_size", "f() has 71 lines", "src/api/f.c", "",
                     "static __attribute__((cold)) int f(void)\n{\n"
                     + "\tx();\n" * 68 + "}\n")
        self.accepts("check_size", {
            "src/api/f.c": "int f(void)\n{\n" + "\tx();\n" * 67 + "}\n"})

    def test_many_parameters(self):
        self.rejects("check_size", "g() has 7 parameters", "src/api/g.c", "",
                     "int g(int a, int b, int c, int d, int e, int f,\n"
                     "      int (*h)(int, int))\n{\n\treturn 0;\n}\n")

    def test_long_example(self):
        self.rejects("check_size", "more than 60", "examples/two.c", "",
                     "int x;\n" * 61)


class Banned(Checkers):
    def bad(self, word, path="src/core/bad.c"):
        banned = word.split("(")[0].split(" = ")[-1].split(" ")[0]
        self.rejects("check_banned", banned, path, "",
                     f"void f(void)\n{{\n\t{word};\n}}\n")

    def test_each_rule(self):
        for word in ("__atomic_load_n(p, 0)", "__sync_synchronize()",
                     "x = memory_order_relaxed", "atomic_load(p)",
                     "syscall(1)", "x = SYS_futex", "mmap(0)",
                     "pthread_create(p)", "asm(\"nop\")",
                     "__asm__ volatile(\"\")", "p = malloc(1)", "free(p)",
                     "strcpy(a, b)", "sprintf(a, b)", "gets(a)",
                     "p = alloca(4)", "printf(a)"):
            with self.subTest(word):
                self.bad(word)

    def test_unbounded_copies_are_banned_in_tests_too(self):
        self.bad("strcat(a, b)", "tests/unit/x.c")

    def test_each_place_is_allowed(self):
        for path, word in (("src/os/x.c", "mmap(0)"),
                           ("src/arch/x.h", "__asm__(\"\")"),
                           ("src/mem/x.c", "free(p)"),
                           ("tests/unit/x.c", "free(p)"),
                           ("src/core/x.c", "hook->free(p)"),
                           ("src/core/x.c", "hook.free(p)")):
            with self.subTest(path=path, word=word):
                self.accepts("check_banned", {
                    path: f"void f(void)\n{{\n\t{word};\n}}\n"})

    def test_local_paths(self):
        self.rejects("check_banned", "has no place", "docs/x.md", "",
                     "see /wo" + "rk/notes\n")


class Faults(Checkers):
    def test_a_call_that_is_no_site(self):
        self.rejects("check_faults", "is no site", "src/os/futex.c",
                     "fault_errno(\"x\") ? -1 : ", "")

    def test_a_call_outside_of_os_and_mem(self):
        self.rejects("check_faults", "fopen(): what can fail",
                     "src/core/bad.c", "",
                     "void f(void)\n{\n\tfopen(a, b);\n}\n")

    def test_the_site_of_the_neighbour_does_not_count(self):
        self.rejects("check_faults", "read() can fail", "src/os/bad.c", "",
                     "void f(void)\n{\n\tfault_errno(\"x\");\n}\n\n\n\n\n"
                     "void g(void)\n{\n\tread(a);\n}\n")

    def test_a_reason_will_do(self):
        self.accepts("check_faults", {
            "src/os/x.c": "void f(void)\n{\n\t/* fault: none. */\n"
                          "\tread(a);\n}\n"})


class Listed(Checkers):
    def test_source_that_is_not_built(self):
        self.rejects("check_listed", "src/os/futex.c:1: is not in",
                     "src/CMakeLists.txt", "\tos/futex.c\n",
                     "\t# os/futex.c\n\tos/futex.cc\n")

    def test_test_that_is_not_run(self):
        self.rejects("check_listed", "examples/two.c:1: is not in",
                     "examples/two.c", "", "int x;\n")

    def test_test_that_is_only_in_a_group(self):
        self.rejects("check_listed", "tests/unit/box.c:1: is not in",
                     "tests/unit/CMakeLists.txt", "sley_test(unit box)\n",
                     "sley_test_group(unit all\n\tbox)\n")

    def test_file_without_any_list(self):
        self.rejects("check_listed", "lost/two.c:1: is not in",
                     "lost/two.c", "", "int x;\n")


class Errors(Checkers):
    LOST = "this loses which error it was"

    def lost(self, body, head="static int f(int err)"):
        code = f"{head}\n{{\n{body}\n}}\n"
        self.rejects("check_errors", f"examples/two.c:3: {self.LOST}",
                     "examples/two.c", "", code)

    def kept(self, body, head="static int f(int err)"):
        self.accepts("check_errors", {
            "examples/two.c": f"{head}\n{{\n{body}\n}}\n"})

    def test_variable(self):
        self.lost("err = a() || b();")
        self.lost("int err = a() ||\n\t  b();")
        self.lost("*err = a(S(.x = 1)) || x != 3;")
        self.lost("it->err = err || x;")
        self.lost("err = x || a((struct s){ .y = 1 });")

    def test_result(self):
        self.lost("return a() || b();")
        self.lost("return err || x;")
        self.lost("return x < 3 || box->err;")

    def test_mixed(self):
        self.lost("err |= a();")

    def test_not_kept(self):
        self.kept("if (a() || b()) return 1;")
        self.kept("while (a() || b()) x = 1;")
        self.kept("err = a(b || c);")
        self.kept("err = a || b ? c() : d();")

    def test_no_error(self):
        self.kept("x = a < 0 || b() == 3;")
        self.kept("return !a() || b() > 3;")
        self.kept("flags |= FLAG;")
        self.kept("/* err = a() || b(); */")

    def test_bool(self):
        self.kept("bool good = a() || b();")
        self.kept("return a() || b();", "static bool f(void)")
        self.kept("return a() || err;", "int main(void)")
        self.lost("err = a() || b();", "int main(void)")

    def test_documents(self):
        code = "static int f(void)\n{\n\treturn a() || b();\n}\n"
        self.rejects("check_errors", f"docs/X.md:5: {self.LOST}",
                     "docs/X.md", "", f"X\n```c\n{code}```\n")
        code = code.replace("static int f", "int main").replace(
            "return", "err =")
        self.rejects("check_errors", f"man/x.7:4: {self.LOST}", "man/x.7", "",
                     f".Bd -literal\n{code}.Ed\n")


class Clang(unittest.TestCase):
    """check_clang reads two builds, not the tree."""

    def run_it(self, text, built=(), first="int a;\n"):
        with tempfile.TemporaryDirectory() as folder:
            for build, names in (("all", ("a.c", "b.c")), ("some", built)):
                os.mkdir(os.path.join(folder, build))
                path = os.path.join(folder, build, "compile_commands.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump([{
                        "directory": folder, "file": name,
                        "command": f"clang -Wall -Werror -o {name}.o -c {name}"
                    } for name in names], file)
            for name in ("a.c", "b.c"):
                with open(os.path.join(folder, name), "w",
                          encoding="utf-8") as file:
                    file.write(text if name == "b.c" else first)
            done = subprocess.run(
                [sys.executable, os.path.join(TOOLS, "check_clang.py"),
                 os.path.join(folder, "all"), "--but",
                 os.path.join(folder, "some")], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
            self.assertFalse([name for name in os.listdir(folder)
                              if name.endswith(".o")])
        return done

    def test_a_warning_is_a_complaint(self):
        done = self.run_it("static int unused;\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 files, 1 complaints", done.stdout)
        self.assertIn("unused variable", done.stdout)

    def test_a_file_read_after_a_bad_one_is_looked_at(self):
        done = self.run_it("static int last;\n", first="static int first;\n")
        self.assertIn("unused variable 'first'", done.stdout)
        self.assertIn("unused variable 'last'", done.stdout)

    def test_a_pragma_is_for_its_own_file(self):
        pragma = '#pragma clang diagnostic ignored "-Wunused-variable"\n'
        done = self.run_it("\n" * 80 + "static int b;\n",
                           first=pragma + "static int a;\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unused variable 'b'", done.stdout)
        self.assertNotIn("unused variable 'a'", done.stdout)

    def test_good_files_pass(self):
        done = self.run_it("int used;\n")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_what_the_other_build_has_is_left_to_it(self):
        done = self.run_it("static int unused;\n", ("b.c",))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 files, 0 complaints", done.stdout)

    def test_nothing_left_to_do_is_a_failure(self):
        self.assertEqual(self.run_it("int b;\n", ("a.c", "b.c")).returncode, 1)


class Rows(Checkers):
    def bad(self, complaint, old, new):
        self.rejects("check_rows", complaint, "docs/CONFORMANCE.md", old, new)

    def test_test_that_does_not_exist(self):
        self.bad("M1: there is no test m01_x", "`m01_*`", "`m01_x`, `m01_*`")

    def test_name_of_ctest_that_does_not_exist(self):
        self.bad("M1: there is no test unit.bag", "unit.box", "unit.bag")

    def test_test_that_is_not_in_its_row(self):
        self.bad("tests/unit/box.c:5: m01_a_box_opens_once is not in row M1",
                 "`m01_*`", "`m01_a_box_opens`")

    def test_program_in_a_folder_has_the_name_without_it(self):
        lid = {"tests/unit/lids/lid.c": "TEST(m01_a_lid)\n{\n}\n"}
        listed = {"tests/unit/CMakeLists.txt": "sley_test(unit box)\n"
                                               "sley_test(unit lids/top)\n"}
        page = GOOD["docs/CONFORMANCE.md"]
        for name in ("unit.lid", "unit.top"):
            self.accepts("check_rows", lid | listed | {
                "docs/CONFORMANCE.md": page.replace("unit.box", name)})
        self.bad("there is no test lids.lid", "unit.box", "lids.lid")

    def test_test_of_a_row_that_is_not_there(self):
        self.rejects("check_rows", "m03_x is not in row M3",
                     "tests/unit/box.c", "", "TEST(m03_x)\n{\n}\n")

    def test_test_of_a_row_that_is_not_done(self):
        self.rejects("check_rows", "m02_x is not in row M2",
                     "tests/unit/box.c", "", "TEST_WORKERS(m02_x)\n{\n}\n")

    def test_row_without_a_test(self):
        self.bad("M2: has no test", "not done", "")

    def test_row_that_is_there_twice(self):
        self.bad("M1 is there twice", "M2", "M1")

    def test_race_without_a_test(self):
        self.bad("R-S2: has no test", "M2 | is for later | not done",
                 "R-S2 | is for later |")
        self.bad("R-S2: there is no test rs2_*", "M2 | is for later | not done",
                 "R-S2 | is for now | `rs2_*`")

    def test_trap_without_a_test(self):
        self.bad("U-T2: has no test", "M2 | is for later | not done",
                 "U-T2 | is for later |")
        self.bad("U-T2: there is no test ut2_*",
                 "M2 | is for later | not done",
                 "U-T2 | is for now | `ut2_*`")

    def test_test_that_is_named_after_a_race_that_is_not_there(self):
        for name, row in (("rs1", "R-S1"), ("rc12", "R-C12"), ("n03", "N3")):
            self.rejects("check_rows", f"{name}_x is not in row {row}",
                         "tests/unit/box.c", "", f"TEST({name}_x)\n{{\n}}\n")

    def test_row_of_another_form(self):
        self.bad("R-S2 is not | row | what | tests |", "| M2 |", "| R-S2 it |")


class Format(Checkers):
    def test_wrong_indentation(self):
        self.rejects("check_format", "clang-format disagrees",
                     "src/api/box.c", "\tbox->value = value",
                     "    box->value = value")

    def test_long_line(self):
        self.rejects("check_format", "clang-format disagrees",
                     "src/api/box.c", "\treturn 0;",
                     "\treturn " + " + ".join(["value"] * 12) + ";")

    def test_braced_macro_must_be_on_one_line_if_it_fits(self):
        self.rejects("check_format", "clang-format disagrees",
                     "include/sley/box.h", "#define SLEY_BOX_INIT { NULL, 0 }",
                     "#define SLEY_BOX_INIT \\\n\t{ NULL, 0 }")

    def test_braced_macro_as_clang_format_would_have_it(self):
        self.rejects("check_format", "clang-format disagrees",
                     "include/sley/box.h", "#define SLEY_BOX_INIT { NULL, 0 }",
                     "#define SLEY_BOX_INIT".ljust(79) + "\\\n"
                     + "\t{".ljust(72) + "\\\n"
                     + "\t\tNULL, 0".ljust(65) + "\\\n\t}")


if __name__ == "__main__":
    unittest.main()
