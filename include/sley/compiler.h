/* SPDX-License-Identifier: MIT */
/*
 * sley/compiler.h - what the public headers need from the compiler, and the
 * words every prototype carries.
 *
 * Each exported function says who may call it and what it blocks:
 *
 *   SLEY_ANY_THREAD      a task, a bound thread or any other thread
 *   SLEY_TASK_ONLY       a task, or a bound thread of a single-threaded runtime
 *
 *   SLEY_NEVER_BLOCKS    returns after a bounded number of steps
 *   SLEY_BLOCKS_FIBER    a task is suspended and its worker goes on with other
 *                        work; a plain thread sleeps
 *   SLEY_BLOCKS_THREAD   the calling OS thread sleeps
 *
 * The words expand to nothing; tools/check_api.py demands one of each pair.
 */
#ifndef SLEY_COMPILER_H
#define SLEY_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SLEY_BEGIN_DECLS extern "C" {
#define SLEY_END_DECLS }
#define SLEY_ZEROED { }
#else
#define SLEY_BEGIN_DECLS
#define SLEY_END_DECLS
#define SLEY_ZEROED { 0 }
#endif

#define SLEY_EXPORT __attribute__((visibility("default")))
#define SLEY_MUST_CHECK __attribute__((warn_unused_result))

#define SLEY_ANY_THREAD
#define SLEY_TASK_ONLY
#define SLEY_NEVER_BLOCKS
#define SLEY_BLOCKS_FIBER
#define SLEY_BLOCKS_THREAD

#endif
