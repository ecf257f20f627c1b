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

/*
 * SLEY_LITERAL(type, .field = value, ...) - a pointer to a struct of options with
 * its .size; it lasts as long as the call it is written in.  Each such struct has a
 * macro of its name: SLEY_HOW(.grain = 8) is one for struct sley_how.  C++ wants the
 * fields in the order of the struct, and C++20.
 */
#ifdef __cplusplus
template <typename T> struct sley_literal {
	T value;
	operator const T *() const
	{
		return &value;
	}
};
#define SLEY_LITERAL(type, ...)                                                \
	(sley_literal<type>{ { .size = sizeof(type), __VA_ARGS__ } })
#else
#define SLEY_LITERAL(type, ...)                                                \
	(&(const type){ .size = sizeof(type), __VA_ARGS__ })
#endif

#define SLEY_EXPORT __attribute__((visibility("default")))
#define SLEY_MUST_CHECK __attribute__((warn_unused_result))

#define SLEY_ANY_THREAD
#define SLEY_TASK_ONLY
#define SLEY_NEVER_BLOCKS
#define SLEY_BLOCKS_FIBER
#define SLEY_BLOCKS_THREAD

#endif
