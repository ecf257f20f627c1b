/* SPDX-License-Identifier: MIT */
/*
 * newer.h - what a later minor version of ipc/wire.h might have: additions that two newer
 * sides use, and that a newer side leaves out for an older side.  The compiler reads this
 * file before all sources of the test programs that programs/sleyd/CMakeLists.txt calls
 * "minor".
 *
 *   - Reserved fields have a meaning.
 *   - HELLO has one more flag, NEWER_ASKS; so has WELCOME, NEWER_KNOWS.  An older side
 *     reads neither flag.
 *   - A head has one more flag, NEWER_HEAD, if the daemon knows this flag.  An older daemon
 *     refuses the request: the flag is unknown.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IPC_NEWER_H
#define SLEY_TESTS_CONFORMANCE_IPC_NEWER_H

#include <stdint.h>

#define WIRE_MINOR 200u /* above any that will be */
#define WIRE_RESERVED 0xa5a5a5a5u

#define NEWER_ASKS 0x100u
#define NEWER_KNOWS 0x200u
#define NEWER_HEAD 0x8000u

#define WIRE_FLAGS (7u | NEWER_HEAD)
#define WIRE_SENT_FLAGS(flags) newer_flags(flags)

/* With NEWER_HEAD, or without; the head may have been sent to another daemon before. */
uint16_t newer_flags(uint16_t flags);

#endif
