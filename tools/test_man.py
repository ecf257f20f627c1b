#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_man - what make_man.py makes of the forms that comments have."""
import os
import tempfile
import unittest

import make_man
from manual import mdoc
from manual.errors_field import Errors

HEADER = """\
/* SPDX-License-Identifier: MIT */
/*
 * sley/box.h - boxes.
 *
 * A box keeps one thing:
 *
 *\tsley_box_open(&box);
 */
#ifndef SLEY_BOX_H
#define SLEY_BOX_H

/* ---- the box ------------------------------------------------------------ */

/* Zero means the default. */
struct sley_box {
\tint lid;  /* how far it is open */
\t/*
\t * How many things.  At most
\t * SLEY_BOX_MAX.
\t */
\tint nr;
\tint side[SLEY_BOX_MAX / 2];
\tint reserved[3];
};

enum sley_box_kind {
\tSLEY_BOX_OPEN, /* has no lid */
\t/* Has one. */
\tSLEY_BOX_SHUT = 4
};

#define SLEY_BOX_INIT { 0, 0 }
#define SLEY_BOX_MAX 7 /* things in one box */

/* A box with a hinge. */
struct sley_box_hinge {
\tstruct sley_waitq q;
};

#define SLEY_BOX_HINGE_INIT { 0 }

/* For sley_router_add(). */
SLEY_EXPORT extern const struct sley_module sley_box_module;

/* Private: what a box keeps for itself. */
struct sley_box_lock {
\tlong key[64 / 8];
};

/* SLEY_BOX_TALL(n) - one that is high. */
#define SLEY_BOX_TALL(n) { n, 0 }

/* In the word: private. */
#define SLEY_BOX_ONE 1
#define SLEY_BOX_TWO 2 /* also */

SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_box_wait_slow(struct sley_box *box);

/*
 * sley_box_wait - wait until @box is open.
 *
 * It may be closed again.  Returns how far it is open.  Do not use
 * *@box before; see sley_box_open().
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller
 * Errors:   -EINVAL   @box has no lid, or
 *                     no hinge
 *           SLEY_EBOX, -ECANCELED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_box_wait(struct sley_box *box);

/*
 * sley_box_wait_until - sley_box_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_box_wait()
 * Errors:   -ETIMEDOUT, -EINVAL; nothing is lost then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_box_wait_until(struct sley_box *box, uint64_t deadline_ns);

/*
 * sley_box_open - open it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; true if it was closed
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_box_open(struct sley_box *box)
{
\treturn box->lid;
}

/* ---- in stock ------------------------------------------------------------ */

/*
 * Boxes can be kept.
 */

/*
 * sley_box_peek - private: look into it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_box_peek(struct sley_box *box)
{
\treturn box->lid;
}

/*
 * sley_box_keep - keep it.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; where there is no room, on the floor
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_box_keep(struct sley_box *box);
#endif
"""

ERRORS = """\
/*
 * sley/error.h - how calls fail.
 */
#define SLEY_ERRORS(X) \\
\tX(SLEY_EBOX, -1, "a box " \\
\t  "is broken")
"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (("include/sley/box.h", HEADER),
                               ("include/sley/error.h", ERRORS),
                               ("man/sley.7", ".Dd May 1, 2025\n"),
                               ("examples/01_box.c",
                                "/*\n * 01_box.c - a box.\n *\n */\n"
                                "int x = sley_box_open(&b);\n")):
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            cls.pages, cls.aliases = make_man.make_pages(root, "1.2")

    def has(self, page, text):
        self.assertIn(text, self.pages[page])

    def test_a_twin_a_type_and_a_module_are_names_of_a_page(self):
        self.assertEqual(self.aliases, {
            "sley_box_wait_until.3": "sley_box_wait.3",
            "sley_box_module.3": "sley_box.h.3",
            "sley_box.3": "sley_box.h.3",
            "sley_box_hinge.3": "sley_box.h.3"})
        self.has("sley_box_wait.3",
                 ".Nm sley_box_wait ,\n.Nm sley_box_wait_until\n"
                 ".Nd wait until box is open\n")

    def test_private_names_have_no_page(self):
        self.assertFalse([n for n in self.pages if "slow" in n])
        for page in self.pages.values():
            self.assertNotIn("sley_box_peek", page)
            self.assertNotIn("sley_box_lock", page)
            self.assertNotIn("SLEY_BOX_ONE", page)
            self.assertNotIn("SLEY_BOX_TWO", page)

    def test_a_prototype_has_no_words(self):
        self.has("sley_box_wait.3", ".Ft int\n.Fo sley_box_wait\n"
                 '.Fa "struct sley_box *box"\n.Fc\n')
        self.has("sley_box_open.3", ".Ft bool\n.Fo sley_box_open\n")

    def test_marks_become_macros(self):
        self.has("sley_box_wait.3", "Do not use\n.Pf * Fa box\nbefore; see\n"
                 ".Xr sley_box_open 3 .\n")

    def test_fields_of_a_struct(self):
        self.has("sley_box.h.3", '.It Vt "int lid"\nHow far it is open.\n'
                 '.It Vt "int nr"\nHow many things.\nAt most\n'
                 ".Dv SLEY_BOX_MAX .\n"
                 '.It Vt "int side[SLEY_BOX_MAX / 2]"\n')
        self.assertNotIn("reserved", self.pages["sley_box.h.3"])
        self.has("sley_box.h.3", ".It Dv SLEY_BOX_MAX\n7:\n"
                 "things in one box.\n")

    def test_an_initialiser_belongs_to_the_longest_name(self):
        self.has("sley_box_open.3", ".It Dv SLEY_BOX_INIT\n")
        self.assertNotIn("SLEY_BOX_HINGE_INIT", self.pages["sley_box_open.3"])

    def test_a_macro_is_named_once(self):
        self.has("sley_box.h.3", ".It Dv SLEY_BOX_TALL(n)\n"
                 "One that is high.\n")

    def test_a_remark_is_on_the_pages_of_its_section(self):
        remark = ".Ss \\&In stock\nBoxes can be kept.\n"
        self.has("sley_box.h.3", remark)
        self.has("sley_box_keep.3", ".Sh NOTES\n" + remark)
        self.assertNotIn(remark, self.pages["sley_box_open.3"])

    def test_what_returns_nothing_has_no_return_value(self):
        self.has("sley_box_keep.3", ".Sh ERRORS\n"
                 "There are none; where there is no room, on the floor.\n")
        self.assertNotIn("RETURN VALUES", self.pages["sley_box_keep.3"])

    def test_enumerators(self):
        self.has("sley_box.h.3", '.It Dv "SLEY_BOX_OPEN"\nHas no lid.\n'
                 '.It Dv "SLEY_BOX_SHUT = 4"\nHas one.\n.El\n')

    def test_code_in_a_comment_stays_code(self):
        self.has("sley_box.h.3", ".Bd -literal -offset indent\n"
                 "sley_box_open(&box);\n.Ed\n")

    def test_what_is_returned(self):
        self.has("sley_box_wait.3", ".Sh RETURN VALUES\n"
                 "Returns how far it is open.\n")
        self.has("sley_box_open.3", ".Sh RETURN VALUES\n"
                 "True if it was closed.\n")

    def test_errors_are_joined(self):
        self.has("sley_box_wait.3", ".It Er \\-EINVAL\n.Fa box\n"
                 "has no lid, or no hinge.\n"
                 ".It Dv SLEY_EBOX\nA box is broken.\n"
                 "Only\n.Fn sley_box_wait .\n")
        self.has("sley_box_wait.3", ".Fn sley_box_wait_until :\n"
                 "nothing is lost then.\n")

    def test_what_is_said_once_is_said_once(self):
        self.has("sley_box_wait.3", ".Sh OWNERSHIP\nThe caller.\n.Sh")

    def test_where_to_look_further(self):
        self.has("sley_box_open.3", ".It Pa 01_box.c\na box\n")
        self.has("sley_box_open.3", ".Sh SEE ALSO\n.Xr sley_box.h 3 ,\n"
                 ".Xr sley_box_wait 3 ,\n.Xr sley 7\n")


class Forms(unittest.TestCase):
    def errors(self, *lines):
        return Errors(list(lines))

    def test_none(self):
        self.assertEqual(self.errors("none").entries, [])
        self.assertEqual(self.errors("none; true if so").value, "true if so")
        self.assertEqual(self.errors("none; twice is misuse").misuse,
                         "twice is misuse")

    def test_a_list(self):
        errors = self.errors("-EAGAIN (no, room), -EPIPE; nothing is in")
        self.assertEqual(errors.entries, [("-EAGAIN", "no, room"),
                                          ("-EPIPE", "")])
        self.assertEqual(errors.notes, ["nothing is in"])

    def test_a_remark_behind_a_colon(self):
        errors = self.errors("-EIO, -EAGAIN (no thread): it did not run")
        self.assertEqual(errors.entries, [("-EIO", ""),
                                          ("-EAGAIN", "no thread")])
        self.assertEqual(errors.notes, ["it did not run"])

    def test_a_null_is_one_sentence(self):
        text = "NULL if there is no memory, or @size is 0"
        self.assertEqual(self.errors(text).notes, [text])

    def test_another_function(self):
        errors = self.errors("as sley_a(), and", "-ENOMEM   short", "  of it")
        self.assertEqual(errors.references, ["sley_a()"])
        self.assertEqual(errors.entries, [("-ENOMEM", "short of it")])

    def test_values_that_are_no_errors(self):
        self.assertTrue(self.errors("0    it ran", "-EX  not").is_value)
        self.assertEqual(self.errors("1 if it ran, 0 if not").value,
                         "1 if it ran, 0 if not")

    def test_nothing_is_taken_for_a_request(self):
        writer = mdoc.Writer([])
        self.assertEqual(writer.text("'x' is \\n."), ["\\&'x' is \\en."])

    def test_sentences_start_on_lines_of_their_own(self):
        writer = mdoc.Writer([])
        self.assertEqual(writer.text("One.  Two\nthree.\nFour."),
                         ["One.", "Two three.", "Four."])


if __name__ == "__main__":
    unittest.main()
