#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""foreign - code that uses what another process wrote, without a copy, does not compile.

src/shm/foreign.h marks the memory, and clang looks at the mark.  Each line below is
compiled as a function of the daemon would be.  The good lines show that nothing else is
refused.
"""
import argparse
import os
import shutil
import subprocess
import sys

FRAME = """
#include "ipc/session.h"

uint64_t use(struct session *session, struct session_call *call, uint32_t slot,
	     struct entry_reader *reader);
uint64_t use(struct session *session, struct session_call *call, uint32_t slot,
	     struct entry_reader *reader)
{
	const struct request_ring *ring = &session->server.ring;
	struct wire_head head = { .pool = 0 };

	(void)ring;
	(void)call;
	(void)slot;
	(void)reader;
	%s
	return head.pool;
}
"""

GOOD = (
    "",
    "foreign_read(&head, request_ring_slot(ring, slot), sizeof(head));",
    "foreign_write(session_answer_place(session, slot), &head, 8);",
    "foreign_read(&head, call->in, sizeof(head));",
    "foreign_read(&head, session->segments[1].memory, sizeof(head));",
    "head.pool = load_relaxed(&reader->entries[1].slot);",
    "head.pool = count_word_load(reader->word);",
    "head.pool = load_relaxed(&ring->memory->header.depth);",
)

BAD = (
    "memcpy(&head, request_ring_slot(ring, slot), sizeof(head));",
    "struct wire_head *p = request_ring_slot(ring, slot); head.pool = p->pool;",
    "memcpy(&head, call->in, sizeof(head));",
    "const unsigned char *in = call->in; head.pool = in[0];",
    "memcpy(&head, session->segments[1].memory, sizeof(head));",
    "memcpy(session_answer_place(session, slot), &head, sizeof(head));",
    "head.pool = reader->entries[1].slot;",
    "struct ring_entry entry = reader->entries[1]; head.pool = entry.slot;",
    "head.pool = *reader->word;",
    "head.pool = ring->memory->header.depth;",
    "head.pool = (uint32_t)ring->memory->begun;",
    "const struct request_header *h = &ring->memory->header; "
    "head.pool = h->depth;",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    source = parser.parse_args().source
    clang = shutil.which("clang")
    if not clang:
        print("clang is missing: apt-get install clang")
        return 77
    failed = 0
    for line in GOOD + BAD:
        done = subprocess.run(
            [clang, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
             "-Werror", "-fsyntax-only", "-x", "c", "-",
             "-I", os.path.join(source, "src"),
             "-I", os.path.join(source, "include")],
            input=FRAME % line, capture_output=True, text=True, check=False)
        refused = "-Wnoderef" in done.stderr
        right = refused if line in BAD else done.returncode == 0
        failed += not right
        print("ok  " if right else "FAIL", line)
        if not right:
            print(done.stderr)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
