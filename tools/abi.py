#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi - the binary interface, written down, and compared.

  tools/abi.py write --library build/libsley.so     what "make abi" does
  tools/abi.py check --library build/libsley.so     what the test api.abi does

The baseline, tests/api/abi/libsley-MAJOR.MINOR.abi, or libsley-http-MAJOR.MINOR.abi
for build/libsley-http.so and so on, is libabigail's account of the exported functions and of all types that callers can see.  Whatever was
built against it must go on working: a function that is gone, or a type that
changed, is a complaint.  New functions are not.

The account holds neither paths nor anything of the machine, and what the
public headers only declare is only declared.  abidw can leave out private
types, but goes by the names of files alone, and src/ has a waitq.h, too.

Not seen: values of macros, and what inline functions do.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import csource
from header import Header, Type

ABIDW = ["abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
         "--no-architecture", "--no-elf-needed", "--no-parameter-names",
         "--drop-undefined-syms", "--exported-interfaces-only",
         "--type-id-style", "hash"]
ABIDIFF = ["abidiff", "--no-added-syms", "--no-architecture"]
# Status bits of abidiff; an incompatible change sets both.
TROUBLE, CHANGED = 1 | 2, 4 | 8
NOT_JUDGED = 77


def public_types(root):
    """What the headers define, not just declare."""
    names = set()
    for path in csource.files(root, "include/sley/*.h"):
        for kind in Header(root, path).of(Type):
            if "{" in kind.text:
                names.add(kind.name.split()[-1])
    return names


def close(node):
    """Leave nothing of a type but its name."""
    for child in list(node):
        node.remove(child)
    node.attrib.pop("size-in-bits", None)
    node.set("is-declaration-only", "yes")


def reached(corpus, types):
    """The ids of the types that functions and variables lead to."""
    seen = set()
    waiting = [node for unit in corpus.iter("abi-instr") for node in unit
               if node.tag in ("function-decl", "var-decl")]
    while waiting:
        for node in waiting.pop().iter():
            for key in ("type-id", "naming-typedef-id"):
                name = node.get(key)
                if name and name not in seen:
                    seen.add(name)
                    waiting += [types[name]] if name in types else []
    return seen


def tidy(corpus, public):
    """Only what is public, and nothing of the place where it was built."""
    nodes = [node for unit in corpus.iter("abi-instr") for node in unit
             if node.get("id")]
    types = {node.get("id"): node for node in nodes}
    for node in nodes:  # several files may describe one type
        if node.tag in ("class-decl", "union-decl", "enum-decl") \
                and node.get("is-anonymous") != "yes" \
                and node.get("name") not in public:
            close(node)
    wanted = reached(corpus, types)
    for unit in list(corpus.iter("abi-instr")):
        unit.set("path", re.sub(r"^.*/(?=src/)", "", unit.get("path", "")))
        for node in list(unit):
            if node.get("id") and node.get("id") not in wanted:
                unit.remove(node)
    return corpus


def describe(root, library):
    """The account of a library as XML, or None without debug information."""
    done = subprocess.run(ABIDW + [library], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode or not done.stdout:
        print(done.stderr.decode())
        return None
    corpus = tidy(ElementTree.fromstring(done.stdout), public_types(root))
    if corpus.find("abi-instr") is None:
        return None
    ElementTree.indent(corpus)
    return ElementTree.tostring(corpus, encoding="unicode") + "\n"


def default_baseline(root, library):
    stem = os.path.basename(library).split(".so", maxsplit=1)[0]
    text = csource.read(root, "include/sley/version.h")
    version = [re.search(rf"SLEY_VERSION_{part} (\d+)", text).group(1)
               for part in ("MAJOR", "MINOR")]
    return os.path.join(root, "tests/api/abi",
                        f"{stem}-{'.'.join(version)}.abi")


def new_functions(baseline, account):
    """The names that are not in the baseline yet."""
    pattern = r"<elf-symbol name=.(\w+)"
    with open(baseline, encoding="utf-8") as file:
        return set(re.findall(pattern, account)) - set(
            re.findall(pattern, file.read()))


def check(baseline, account):
    with tempfile.NamedTemporaryFile("w", suffix=".abi",
                                     encoding="utf-8") as file:
        file.write(account)
        file.flush()
        done = subprocess.run(ABIDIFF + [baseline, file.name], check=False,
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    if done.returncode & (TROUBLE | CHANGED):
        print(done.stdout)
        print("abi: what was built against the baseline may break.\n"
              "If that is meant, 'make abi' writes a new one; commit it, and "
              "say why.")
        return 1
    new = new_functions(baseline, account)
    if new:
        print("abi: not in the baseline yet:", " ".join(sorted(new)))
    print("abi: compatible")
    return 0


def main():
    parser = csource.root_argument(__doc__)
    parser.add_argument("command", choices=("write", "check"))
    parser.add_argument("--library", required=True)
    parser.add_argument("--baseline")
    args = parser.parse_args()
    baseline = args.baseline or default_baseline(args.root, args.library)
    account = describe(args.root, args.library)
    if account is None:
        print(f"abi: {args.library} has no debug information")
        return NOT_JUDGED
    if args.command == "check":
        return check(baseline, account)
    os.makedirs(os.path.dirname(os.path.abspath(baseline)), exist_ok=True)
    with open(baseline, "w", encoding="utf-8") as file:
        file.write(account)
    print(f"abi: wrote {os.path.relpath(baseline)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
