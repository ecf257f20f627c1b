/* SPDX-License-Identifier: MIT */
/*
 * sley/error.h - how calls report failure.
 *
 * A function that can fail returns 0 or a count on success and a negative value
 * on failure: -errno where errno has a code for the case, a SLEY_E* value (from
 * -4096 down) otherwise.  errno itself is neither read nor set.  Misuse, such
 * as unlocking a mutex that is not locked, is not reported as an error: the
 * program aborts with one line that names the broken rule.
 */
#ifndef SLEY_ERROR_H
#define SLEY_ERROR_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/* X(name, value, text): the list of the library's own codes. */
#define SLEY_ERRORS(X)                                                         \
	X(SLEY_ENORUNTIME, -4096,                                              \
	  "this thread belongs to no runtime: call sley_bind() first, or use " \
	  "the form of the call that names one")                               \
	X(SLEY_ENOWORKER, -4097,                                               \
	  "this thread runs no tasks: pinned ones, and all of a "              \
	  "single-threaded runtime, are spawned by threads that do")           \
	X(SLEY_EWORKERS, -4098,                                                \
	  "a runtime has 1 to 4096 workers, or SLEY_SINGLE")                   \
	X(SLEY_EPRIORITY, -4099, "a priority lies between -32 and 31")         \
	X(SLEY_ESTACK, -4100, "a stack has between 16 KiB and 1 GiB")          \
	X(SLEY_EFORKED, -4101,                                                 \
	  "a runtime does not survive fork(): the child must create its own")  \
	X(SLEY_ECPUS, -4102,                                                   \
	  "no CPU is left for a worker: compare .cpus with "                   \
	  "sley_cpus_usable(), taskset and the cgroup's cpuset")               \
	X(SLEY_EKILLED, -4103, "the process was killed")                       \
	X(SLEY_ERESTARTS, -4104,                                               \
	  "children of a supervisor failed more often than .intensity allows") \
	X(SLEY_EAFFINITY, -4105,                                               \
	  "no worker of the runtime may run it: see .eligible, .affinity, "    \
	  ".toward, and .workers of the class")                                \
	X(SLEY_EGANG, -4106,                                                   \
	  "a gang has no more members than there are workers that may run it") \
	X(SLEY_EARENA, -4107,                                                  \
	  "no room in the arena of the graph (.arena_bytes), and nothing is "  \
	  "about to leave it: drop buffers, or end their scopes")              \
	X(SLEY_ECHILD, -4108, "the subprocess that should run it has ended")   \
	X(SLEY_EUNKNOWN, -4109,                                                \
	  "the daemon ended while it may have been running: outcome unknown; " \
	  "requests that may run twice are marked .idempotent")

#define SLEY_ERROR_ENUM(name, value, text) name = value,
enum { SLEY_ERRORS(SLEY_ERROR_ENUM) };
#undef SLEY_ERROR_ENUM

/*
 * sley_strerror - the text for an error code returned by this library.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the text is static.
 * Errors:   none; an unknown code gives "unknown error".
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const char *
sley_strerror(int err);

SLEY_END_DECLS
#endif
