#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_docs - compile and run every block of C and C++ in the documents, and
the programs in man/.

  tools/run_docs.py --library build/libsley.a [--cc cc] [--cxx c++]
                    [--work DIR] [DOCUMENT...]

Programs are compiled as strictly as we compile ourselves, with the public
headers only, and must end with status 0 in time.  docs/HACKING.md,
"Documents", has the comments by which a block says what else it is.  Errors
of the compiler name the line in the document.
"""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile

import csource
import mdsource

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-O1", "-g"]
# What "cc" gives without options, on top of the standard.
STANDARD = {"c": ["-std=c11", "-D_DEFAULT_SOURCE"], "c++": ["-std=c++17"]}
ENDING = {"c": ".c", "c++": ".cpp"}
TIMEOUT = 60

# Fragments show a use, and leave the rest to the reader.
LENIENT = ["-Wno-unused-variable", "-Wno-unused-parameter",
           "-Wno-unused-function", "-Wno-unused-but-set-variable",
           "-Wno-unused-value", "-Wno-uninitialized",
           "-Wno-maybe-uninitialized", "-Wno-unknown-warning-option"]
FRAGMENT_HEADERS = ["errno.h", "pthread.h", "stdio.h", "stdlib.h", "string.h",
                    "sley/sley.h"]


class Job:
    """One thing to compile, and perhaps to run."""

    def __init__(self, block, mark):
        self.block, self.mark = block, mark
        self.language = mark.language or block.language
        self.pieces = [block]
        self.runs = mark.kind in ("program", "part") or (
            mark.kind == "peer" and block.has_main)
        self.printed = None  # the block that shows the whole output

    def name(self):
        path = self.block.path.removesuffix(".md")
        return re.sub(r"\W+", "-", path) + f"-{self.block.line}"

    def source(self):
        text = ""
        if self.mark.kind in ("fragment", "declarations"):
            text = "".join(f"#include <{h}>\n" for h in FRAGMENT_HEADERS)
            head = f"{self.mark.prelude}\n"
            if self.mark.kind == "fragment":
                head = ("static int fragment(void)\n{\n" + head)
            text += head
        for block in self.pieces:
            text += f'#line {block.line} "{block.path}"\n{block.text}'
        if self.mark.kind == "fragment":
            # Whoever returns early in it, returns a status.
            text += ("\treturn 0;\n}\n\nint fragment_used(void);\n"
                     "int fragment_used(void)\n{\n\treturn fragment();\n}\n")
        return text


def jobs_of(path, text):
    """The jobs of a document; what is only shown gives none."""
    jobs, parts, last = [], {}, None
    read = mdsource.blocks if path.endswith(".md") else mdsource.manual_blocks
    for block in read(path, text):
        if block.info == "output" and last:
            last.printed = block
        if not block.language:
            continue
        mark = mdsource.parse_mark(block.mark or "")
        last = None
        if mark.kind == "shown" or (mark.kind == "peer" and mark.why):
            continue
        if mark.kind == "part" and mark.name in parts:
            last = parts[mark.name]
            last.pieces.append(block)
            last.mark.output += mark.output
            continue
        last = Job(block, mark)
        jobs.append(last)
        if mark.kind == "part":
            parts[mark.name] = last
    return jobs


def execute(command, timeout=TIMEOUT, **environment):
    """(status, stdout, stderr); the status is negative for a signal."""
    try:
        done = subprocess.run(command, text=True, errors="replace",
                              check=False, timeout=timeout,
                              stdin=subprocess.DEVNULL,
                              env=os.environ | environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"did not end within {timeout} s"


def compile_command(args, job, source, target):
    compiler = args.cxx if job.language == "c++" else args.cc
    command = compiler.split() + STANDARD[job.language] + WARNINGS
    if job.mark.kind in ("fragment", "declarations"):
        return command + LENIENT + ["-I", args.include, "-c", source, "-o",
                                    os.devnull]
    if job.mark.kind == "peer":
        return command + ([] if job.runs else ["-c"]) + [
            source, "-pthread", "-o", target if job.runs else os.devnull]
    return command + ["-I", args.include, source, args.library, "-pthread",
                      "-o", target]


def missing_output(job, output):
    """What it should have printed, or None."""
    at = 0
    for text in job.mark.output:
        found = output.find(text, at)
        if found < 0:
            return text
        at = found + len(text)
    if job.printed and output.strip() != job.printed.text.strip():
        return job.printed.text
    return None


def judge(job, status, output, errors):
    """What is wrong with a run, or None."""
    if job.mark.aborts is not None:
        if status != -signal.SIGABRT or job.mark.aborts not in errors:
            return f"should abort and say '{job.mark.aborts}'"
    elif status is None:
        return "is too slow, or hangs"
    elif status:
        return f"ended with status {status}"
    missing = missing_output(job, output)
    if missing is not None:
        return f"should print:\n{missing}"
    return None


def run_job(args, job):
    """A complaint, or an empty string."""
    target = os.path.join(args.work, job.name())
    source = target + ENDING[job.language]
    with open(source, "w", encoding="utf-8") as file:
        file.write(job.source())
    command = compile_command(args, job, source, target)
    where = f"{job.block.path}:{job.block.line}"
    status, output, errors = execute(command)
    if status != 0:
        return f"{where}: does not compile\n{errors}+ {' '.join(command)}\n"
    if not job.runs:
        return ""
    status, output, errors = execute(
        [target], LD_LIBRARY_PATH=os.path.dirname(args.library))
    wrong = judge(job, status, output, errors)
    if wrong:
        return (f"{where}: {wrong}\n---- it printed:\n{output}{errors}"
                f"+ {' '.join(command)}\n")
    return ""


def main():
    parser = csource.root_argument(__doc__)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--library", required=True)
    parser.add_argument("--work", help="where sources and programs stay")
    parser.add_argument("documents", nargs="*")
    args = parser.parse_args()
    args.include = os.path.join(args.root, "include")
    args.library = os.path.abspath(args.library)
    documents = args.documents or csource.files(args.root, "*.md", "man/*")
    with tempfile.TemporaryDirectory() as scratch:
        args.work = args.work or scratch
        os.makedirs(args.work, exist_ok=True)
        try:
            jobs = [job for path in documents
                    for job in jobs_of(path, csource.read(args.root, path))]
        except mdsource.MarkError as error:
            print(f"run_docs: {error}; check_docs.py says where")
            return 1
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda job: run_job(args, job), jobs))
    sys.stdout.write("".join(results))
    ran = sum(job.runs for job in jobs)
    print(f"run_docs: {len(documents)} documents, {ran} programs run, "
          f"{len(jobs) - ran} fragments compiled, "
          f"{sum(map(bool, results))} complaints")
    return 1 if any(results) or not jobs else 0


if __name__ == "__main__":
    csource.run(main)
