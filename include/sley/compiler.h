/* SPDX-License-Identifier: MIT */
/*
 * sley/compiler.h - compiler features for the public headers, and the words
 * that every prototype carries.
 *
 * Each exported function says which callers it may have, and what it blocks:
 *
 *   SLEY_ANY_THREAD      a task, a bound thread or any other thread
 *   SLEY_TASK_ONLY       a task, or a bound thread of a single-threaded runtime
 *
 *   SLEY_NEVER_BLOCKS    returns after a bounded number of steps
 *   SLEY_BLOCKS_FIBER    a task is suspended and its worker goes on with other
 *                        work; a plain thread sleeps
 *   SLEY_BLOCKS_THREAD   the calling OS thread sleeps
 *
 * The words expand to nothing; tools/check_api.py demands one word of each
 * group.
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
 * SLEY_LITERAL(type, .field = value, ...) - a pointer to a struct of options
 * with its .size set.  The struct lasts as long as the call that has it as an
 * argument.  Each struct of options has a macro of its own name:
 * SLEY_HOW(.grain = 8) makes a struct sley_how.  C++ needs C++20, and the
 * fields in the order of the struct.
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
