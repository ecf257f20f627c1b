#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_faults - every call that can fail is a site of src/os/fault.h.

A call of a function in FALLIBLE stands in os/ or mem/ only.  There, it has a
fault_error(), fault_errno() or fault_spurious() in its statement or directly
above, or a comment there that says "fault:" and why it needs none.  So that
the sweep (tests/fault) makes each of them fail.
"""
import re

import csource

FALLIBLE = (
    "mmap munmap madvise mprotect mremap syscall "
    "pthread_create pthread_attr_init pthread_attr_setaffinity_np "
    "pthread_setaffinity_np pthread_setname_np pthread_key_create "
    "pthread_setspecific pthread_mutex_init pthread_cond_init pthread_atfork "
    "sigaction sigaltstack signalfd eventfd epoll_create1 epoll_ctl pipe2 "
    "fork memfd_create ftruncate fcntl socketpair sendmsg recvmsg "
    "open openat read write access stat fopen fclose ferror fflush "
    "sched_getaffinity sched_setaffinity sysconf dladdr dlopen dlsym realpath "
    "aligned_alloc malloc calloc realloc posix_memalign strdup").split()
CALL = re.compile(r"(?<![\w.>])(?:" + "|".join(FALLIBLE) + r")\s*\(")
SITE = re.compile(r"\bfault_(?:error|errno|spurious)\s*\(")
LINES_ABOVE = 4


def statement(code, offset):
    """First and last line (from 0) of the statement around offset."""
    start = max(code.rfind(char, 0, offset) for char in ";{}")
    end = code.find(";", offset)
    return code.count("\n", 0, start + 1), code.count("\n", 0, end)


def check(report, root, path):
    text = csource.read(root, path)
    code = csource.blank_directives(csource.blank(text))
    code_lines = code.split("\n")
    comment_lines = csource.comments(text).split("\n")
    for match in CALL.finditer(code):
        name = match.group().strip(" (")
        line = csource.line_of(code, match.start())
        if not path.startswith(("src/os/", "src/mem/")):
            report.add(path, line, f"{name}(): what can fail is in os/ or "
                       "mem/")
            continue
        first, last = statement(code, match.start())
        first = max(0, first - LINES_ABOVE)
        if not (SITE.search("\n".join(code_lines[first:last + 1])) or
                "fault:" in "\n".join(comment_lines[first:last + 1])):
            report.add(path, line, f"{name}() can fail and is no site: use "
                       "fault_errno(), or say \"fault: why not\"")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_faults")
    paths = csource.files(root, "src/*.c", "src/*.h")
    for path in paths:
        check(report, root, path)
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
