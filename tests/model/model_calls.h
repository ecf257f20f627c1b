/* SPDX-License-Identifier: MIT */
/*
 * model_calls.h - the calls of src/os that are operations, with their place.
 *
 * The explored sources call functions; the listing and mutate.c need the place of
 * the call.  So the call notes its place first, and model_os.c puts the place into
 * the operation.  Nothing runs in between.
 */
#ifndef SLEY_TESTS_MODEL_CALLS_H
#define SLEY_TESTS_MODEL_CALLS_H

#include "os/futex.h"
#include "os/membarrier.h"

void model_here(const char *site);

#define MODEL_CALL(name, expression)                                           \
	model_here(__FILE__ ":" MODEL_TEXT(__LINE__) "\0" name "\0" expression)

#define os_futex_wait(word, expected, deadline)                                \
	(MODEL_CALL("futex_wait", #word),                                      \
	 os_futex_wait((word), (expected), (deadline)))
#define os_futex_wake(word, nr)                                                \
	(MODEL_CALL("futex_wake", #word), os_futex_wake((word), (nr)))
#define os_membarrier() (MODEL_CALL("membarrier", ""), os_membarrier())

#endif
