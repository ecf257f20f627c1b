#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_banned - calls and words that have their one place, or none.

Each rule: what it looks for in code (comments and strings do not count), in
which files, except where, and the sentence that says what to do instead.
"""
import codecs
import fnmatch
import re

import csource

SRC = ("src/*.c", "src/*.h", "src/*.S")
ALL_C = ("*.c", "*.h", "*.cpp")

RULES = [
    (r"\b__atomic_\w+|\b__sync_\w+|\bmemory_order\w*|\b__ATOMIC_\w+"
     r"|\b_Atomic\b|\batomic_\w+\s*\(",
     SRC, ("src/base/atomic.h",),
     "atomics go through base/atomic.h"),
    (r"\bsyscall\s*\(|\bSYS_\w+|\b__NR_\w+|\bfutex\s*\(|\bFUTEX_\w+"
     r"|\blinux/\w+\.h",
     SRC, ("src/os/*",),
     "system calls are in os/"),
    (r"\b(?:mmap|munmap|mprotect|madvise|nanosleep|usleep|clock_gettime"
     r"|sched_yield|getenv|secure_getenv|pthread_create)\s*\(",
     SRC, ("src/os/*",),
     "calls into the operating system are in os/"),
    (r"\b(?:asm|__asm|__asm__)\b",
     SRC, ("src/arch/*", "src/base/atomic.h"),
     "assembly is in arch/"),
    (r"(?<![\w.>])(?:malloc|calloc|realloc|free|aligned_alloc"
     r"|posix_memalign|memalign|strdup)\s*\(",
     SRC, ("src/mem/*",),
     "memory comes from mem/"),
    (r"(?<![\w.>])(?:strcpy|strcat|stpcpy|sprintf|vsprintf|gets)\s*\(",
     ALL_C, (),
     "has no bound: use snprintf() or memcpy()"),
    (r"\b(?:alloca|__builtin_alloca)\s*\(",
     ALL_C, ("tests/*",),
     "stacks are small: no alloca"),
    (r"(?<![\w.>])(?:printf|puts|putchar)\s*\(",
     SRC, (),
     "a library does not write to standard output"),
]

# Words that tell where a text was written instead of what it is about: local
# paths, addresses of registries, names of tools.  In rot13, so that this file
# may be checked, too.
WORDS = re.compile(codecs.decode(
    r"@NV@|@YYZf?@|/jbex/|/gzc/oevrs|(?v:@pynhqr@|naguebcvp|bcranv|@pungtcg"
    r"|@pbcvybg@|@fho-?ntragf?@|clcv\.bet|ertvfgel\.acz|pengrf\.vb/ncv"
    r"|cebkl\.tbynat)", "rot13").replace("@", r"\b"))


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_banned")
    paths = csource.files(root, *ALL_C, *SRC)
    for path in paths:
        code = csource.blank(csource.read(root, path))
        for pattern, where, but, advice in RULES:
            if not matches(path, where) or matches(path, but):
                continue
            for match in re.finditer(pattern, code):
                report.add(path, csource.line_of(code, match.start()),
                           f"{match.group().strip()}: {advice}")
    for path in csource.files(root, "*"):
        try:
            text = csource.read(root, path)
        except UnicodeDecodeError:
            continue
        for match in WORDS.finditer(text):
            report.add(path, csource.line_of(text, match.start()),
                       f"'{match.group()}' has no place in this repository")
    return report.finish(len(paths))


if __name__ == "__main__":
    csource.run(main)
