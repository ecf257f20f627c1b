#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_guides - a new user follows the guides, word by word.

A section of a guide has lines for the shell, and a program in C.  The program is put into
the file that the line with the compiler names; then the lines are carried out in their
order.  Each must end with status 0.  A line with "# prints: TEXT" behind it prints TEXT and
nothing else.
"""
import os
import re
import subprocess
import sys

from harness import GIVEN, LONG, Test, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tools"))
import mdsource  # pylint: disable=wrong-import-position

LINE = re.compile(r"(?P<command>.*?)\s*(?:\s#\s+(?P<comment>.*))?")
PRINTS = "prints: "

# The library of this build, and our warnings.  The installed sley.pc is for api.install.
PKG_CONFIG = """#!/bin/sh
[ "$*" = "--cflags --libs sley" ] || exit 1
echo "-std=c11 -Wall -Wextra -Werror -I{root}/include {library} -pthread"
"""


class Section:
    """What one section of a guide asks its reader to do."""

    def __init__(self, document, heading):
        path = os.path.join(GIVEN.root, "docs", document)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.text = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text,
                              re.M | re.S)[1]
        self.programs = [block.text for block
                         in mdsource.blocks(document, self.text)
                         if block.language == "c"]
        self.lines = [LINE.fullmatch(line) for line in self.indented()]
        self.sources = [name for line in self.lines for name in
                        re.findall(r"^cc (\S+\.c) ", line["command"])]

    def indented(self):
        """Lines for the shell; a program is between fences instead."""
        outside = re.sub(r"^```.*?^```$", "", self.text, flags=re.M | re.S)
        return [line[4:] for line in outside.split("\n")
                if line.startswith("    ")]


class Guides(Test):
    def setUp(self):
        super().setUp()
        self.configure()
        self.home = os.path.join(self.folder, "home")
        tools = os.path.join(self.folder, "tools")
        os.mkdir(self.home)
        os.mkdir(tools)
        pkg_config = self.write("tools/pkg-config", PKG_CONFIG.format(
            root=GIVEN.root, library=GIVEN.library))
        os.chmod(pkg_config, 0o755)
        folders = [tools, os.path.dirname(GIVEN.sley),
                   os.path.dirname(GIVEN.sleyd), os.environ["PATH"]]
        self.environment = dict(os.environ, SLEY_SOCKET=self.socket,
                                SLEY_CONFIG=self.config,
                                PATH=":".join(folders))
        self.environment.pop("INVOCATION_ID", None)
        self.addCleanup(self.end_daemon)

    def end_daemon(self):
        """One that the section has left behind, since a line of it failed."""
        self.sley("daemon", "stop", "--now", status=None)

    def do(self, line):
        done = subprocess.run(
            ["sh", "-c", line["command"]], cwd=self.home, text=True,
            env=self.environment, timeout=LONG, check=False,
            stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 0,
                         f"{line[0]}\n{done.stdout}{done.stderr}")
        said = line["comment"] or ""
        if said.startswith(PRINTS):
            self.assertEqual(done.stdout, said.removeprefix(PRINTS) + "\n",
                             line[0])

    def follow(self, document, heading, nr_promises):
        section = Section(document, heading)
        self.assertEqual(len(section.programs), len(section.sources))
        self.assertEqual(sum((line["comment"] or "").startswith(PRINTS)
                             for line in section.lines), nr_promises)
        for name, program in zip(section.sources, section.programs):
            self.assertIn(f"`{name}`", section.text)
            self.write(os.path.join("home", name), program)
        for line in section.lines:
            self.do(line)

    def test_a_first_daemon(self):
        self.follow("DAEMON.md", "A first daemon", 2)
        self.assert_nothing_is_left()

    def test_a_whole_client(self):
        self.start()
        self.follow("CLIENTS.md", "A whole client", 1)


if __name__ == "__main__":
    main(__doc__)
