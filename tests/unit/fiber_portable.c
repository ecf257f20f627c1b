/* SPDX-License-Identifier: MIT */
/*
 * fiber_portable.c - the tests of fibers with the portable context switch,
 * which no x86-64 build of the library contains.
 */
#ifndef SLEY_PORTABLE_CTX
#define SLEY_PORTABLE_CTX
#endif

#include "arch/portable/ucontext.c"
#include "fiber/fiber.c"

#include "fiber_fiber.c"
#include "fiber_sanitize.c"
#include "fiber_unwind.c"
