#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_format - clang-format 14 would change nothing.

With --fix, change it.  One thing is put right after clang-format: version 14
takes the braces of "#define X_INIT { 0 }" for a block and spreads them over
four lines; where it fits, it goes back on one.

One process looks at all files: starting it takes longer than formatting one.
Only those it would change are formatted by themselves.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys

import csource

BRACED = re.compile(r"^(#define \w+(?:\([^)\n]*\))?)[ \t]*\\\n"
                    r"(\t\{[ \t]*\\\n(?:[^\n]*\\\n)*?\t\})([^\n\\]*)$", re.M)


def join_braces(text):
    def join(match):
        body = re.sub(r"[ \t]*\\\n[ \t]*", " ", match.group(2)).strip()
        tail = re.sub(r"[ \t]+(/\*)", r" \1", match.group(3))
        line = f"{match.group(1)} {body}{tail}"
        return line if len(line) <= 80 else match.group()
    return BRACED.sub(join, text)


def find_clang_format():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            version = subprocess.run([path, "--version"], text=True,
                                     stdout=subprocess.PIPE, check=True)
            if " version 14." in version.stdout:
                return path
    return None


def suspects(tool, root, paths):
    """Those of the paths that may not be what they should be."""
    if not paths:
        return []
    done = subprocess.run(
        [tool, "--style=file", "--dry-run", "--ferror-limit=1", *paths],
        cwd=root, text=True, check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    named = set(re.findall(r"^(.*?):\d+:\d+: warning: code should be",
                           done.stderr, re.M))
    return [path for path in paths if path in named
            or BRACED.search(csource.read(root, path))]


def main():
    parser = csource.root_argument(__doc__)
    parser.add_argument("--fix", action="store_true")
    args = parser.parse_args()
    tool = find_clang_format()
    if not tool:
        print("check_format: clang-format 14 is not installed")
        return 1
    report = csource.Report("check_format")
    paths = csource.files(args.root, "*.c", "*.h", "*.cpp")
    for path in suspects(tool, args.root, paths):
        full = os.path.join(args.root, path)
        text = csource.read(args.root, path)
        done = subprocess.run([tool, "--style=file", full], text=True,
                              stdout=subprocess.PIPE, check=True)
        formatted = join_braces(done.stdout)
        if formatted == text:
            continue
        if args.fix:
            with open(full, "w", encoding="utf-8") as file:
                file.write(formatted)
            print(f"formatted {path}")
            continue
        diff = list(difflib.unified_diff(
            text.splitlines(), formatted.splitlines(), path, path, n=0,
            lineterm=""))
        where = next(d for d in diff if d.startswith("@@"))
        line = int(re.match(r"@@ -(\d+)", where).group(1))
        report.add(path, line, "clang-format disagrees (make format)")
        sys.stdout.write("\n".join(diff[:12]) + "\n")
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
