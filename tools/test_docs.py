#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_docs - check_docs.py and run_docs.py can fail.

Two good documents; each test changes one thing and names the complaint that
must come.
"""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.abspath(__file__))

README = """\
# Box

See [more](docs/MORE.md#more-of-it), [the start](#box) and `[this](nowhere)`.

```c
int main(void)
{
\treturn 0;
}
```

<!-- test: output "one\\ntwo" -->
```c
#include <stdio.h>

int main(void)
{
\tputs("one\\ntwo\\nthree");
\treturn 0;
}
```
```output
one
two
three
```

<!-- test: part steps -->
```c
static int step(void) { return 0; }
```
<!-- test: part steps -->
```c
int main(void) { return step(); }
```

<!-- test: declarations struct pot { int lid; }; -->
```c
static int lid(struct pot *pot) { return pot->lid; }
```

<!-- test: peer libfoo (not packaged) -->
```c
foo(
```

    indented;  /* is no block */
"""

DOCUMENTS = {
    "README.md": README,
    "docs/MORE.md": "# More of it\n\nBack to [the start](../README.md).\n",
}


class DocumentsCase(unittest.TestCase):
    def check(self, tool, tree, *options):
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run(
                [sys.executable, os.path.join(TOOLS, tool + ".py"),
                 "--root", root, *options], text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout


class Docs(DocumentsCase):
    def bad(self, complaint, old, new):
        self.assertIn(old, README)
        status, output = self.check("check_docs", DOCUMENTS | {
            "README.md": README.replace(old, new, 1)})
        self.assertIn(complaint, output)
        self.assertEqual(status, 1, output)

    def test_good_documents(self):
        status, output = self.check("check_docs", DOCUMENTS)
        self.assertEqual(status, 0, output)

    def test_no_documents(self):
        status, output = self.check("check_docs", {"x/y": ""})
        self.assertEqual(status, 1, output)

    def test_block_that_is_no_program(self):
        self.bad("README.md:5: this block has no main()", "int main", "int f")

    def test_marked_program_without_main(self):
        self.bad("this program has no main()", "int main(void)\n{\n\tputs",
                 "int f(void)\n{\n\tputs")

    def test_upper_case_does_not_hide_a_block(self):
        self.bad("this block has no main()", "```c\nint main",
                 "``` C\nint f")

    def test_no_language_does_not_hide_a_block(self):
        self.bad("this looks like C", "```c\nint main", "```\nint main")

    def test_unknown_mark(self):
        self.bad("cannot read 'prat'", "test: part", "test: prat")

    def test_peer_that_is_not_compiled_without_a_reason(self):
        self.bad("say (why)", " (not packaged)", "")

    def test_mark_that_stands_above_nothing(self):
        self.bad("comments <!-- test: ... -->", "<!-- test: part steps -->\n",
                 "<!-- test: part steps -->\n\nwords\n\n")

    def test_parts_without_main(self):
        self.bad("the parts 'steps' have no main()", "int main(void) {",
                 "int other(void) {")

    def test_link_to_a_file_that_is_not_there(self):
        self.bad("README.md:3: docs/NO.md#more-of-it leads", "docs/MORE.md",
                 "docs/NO.md")

    def test_link_out_of_the_tree(self):
        self.bad("leads nowhere", "docs/MORE.md", "../MORE.md")

    def test_link_to_a_heading_that_is_not_there(self):
        self.bad("docs/MORE.md has no heading #less", "#more-of-it", "#less")


class DocsRun(DocumentsCase):
    """The same documents, compiled and run, with an empty library."""

    def run_docs(self, old="", new=""):
        self.assertIn(old, README)
        text = README.replace(old, new, 1) if old else README
        tree = DOCUMENTS | {"include/sley/sley.h": "", "README.md": text}
        with tempfile.NamedTemporaryFile("w", suffix=".a") as library:
            library.write("!<arch>\n")
            library.flush()
            return self.check("run_docs", tree, "--library", library.name)

    def bad(self, complaint, old, new):
        status, output = self.run_docs(old, new)
        self.assertIn(complaint, output)
        self.assertEqual(status, 1, output)

    def test_good_documents(self):
        status, output = self.run_docs()
        self.assertEqual(status, 0, output)
        self.assertIn("3 programs run, 1 fragments compiled", output)

    def test_program_that_does_not_compile(self):
        self.bad("README.md:8:", "return 0", "return no")

    def test_warning(self):
        self.bad("unused variable", "return 0", "int x; return 0")

    def test_status(self):
        self.bad("README.md:6: ended with status 3", "return 0", "return 3")

    def test_output_that_does_not_come(self):
        self.bad("should print:\none\nthree", '"one\\ntwo" -->',
                 '"one\\nthree" -->')

    def test_output_block_that_differs(self):
        self.bad("should print:\none\n2", "```output\none\ntwo",
                 "```output\none\n2")

    def test_abort_that_does_not_come(self):
        self.bad("should abort", "test: output", 'test: aborts "x" output')

    def test_part_that_does_not_compile(self):
        self.bad("does not compile", "static int step", "static int stop")

    def test_manual_page(self):
        page = (".Sh EXAMPLES\n.Bd -literal\n#include <stdio.h>\n"
                "int main(void)\n{\n\treturn puts(\"\\en\\-\") < 9;\n}\n.Ed\n"
                ".Bd -literal\n$ not a program\n.Ed\n")
        for text, wanted in ((page.replace("< 9", "< 0"), 0), (page, 1)):
            with tempfile.NamedTemporaryFile("w", suffix=".a") as library:
                library.write("!<arch>\n")
                library.flush()
                status, output = self.check("run_docs", {"man/x.7": text},
                                            "--library", library.name)
            self.assertEqual(status, wanted, output)

    def test_fragment_that_does_not_compile(self):
        self.bad("has no member named", "{ int lid; }", "{ int cap; }")


if __name__ == "__main__":
    unittest.main()
