/* SPDX-License-Identifier: MIT */
/*
 * sley/forkable.h - fork and join of functions of any type.
 *
 *	SLEY_FORKABLE(long, fib, long, n)
 *
 *	long fib(long n)
 *	{
 *		if (n < 2)
 *			return n;
 *		SLEY_FORK(fib, left, n - 1);
 *		long right = fib(n - 2);
 *		return SLEY_JOIN(fib, left) + right;
 *	}
 *
 * SLEY_FORK() and SLEY_JOIN() mean the same as the calls of <sley/fork.h>,
 * which says when and where a child runs.  Since the compiler knows the
 * function, a child that no worker took is a direct call, which may be inlined.
 * Arguments and the result are values.
 *
 * A child that is not joined when its block ends is joined there, whichever way
 * the block is left; the result is lost.
 */
#ifndef SLEY_FORKABLE_H
#define SLEY_FORKABLE_H

#include <sley/fork.h>

/*
 * SLEY_FORKABLE(type, name, type_1, arg_1, ...) - let a function be forked.
 *
 * Declares
 *
 *	type name(type_1 arg_1, ...);
 *	struct name_fork;                                    a forked child
 *	void name_fork(struct name_fork *, type_1 arg_1, ...);
 *	type name_join(struct name_fork *);
 *
 * where SLEY_FORK() and SLEY_JOIN() use the last three.  Call these directly
 * for children in an array, each of which must be joined.  The function has one
 * to six arguments, none of them const itself.  If the function is static,
 * declare it as static before the macro.  No semicolon follows: compilers warn
 * of a semicolon outside of functions.
 */
#define SLEY_FORKABLE(type, name, ...)                                         \
	SLEY_FORKABLE_PARTS(type, name, SLEY_PAIRS(PARAMETER, __VA_ARGS__),    \
			    SLEY_PAIRS(FIELD, __VA_ARGS__),                    \
			    SLEY_PAIRS(SET, __VA_ARGS__),                      \
			    SLEY_PAIRS(GET, __VA_ARGS__))

/* SLEY_FORKABLE_VOID(name, type_1, arg_1, ...) - for functions without a result. */
#define SLEY_FORKABLE_VOID(name, ...)                                          \
	SLEY_FORKABLE_VOID_PARTS(name, SLEY_PAIRS(PARAMETER, __VA_ARGS__),     \
				 SLEY_PAIRS(FIELD, __VA_ARGS__),               \
				 SLEY_PAIRS(SET, __VA_ARGS__),                 \
				 SLEY_PAIRS(GET, __VA_ARGS__))

/* SLEY_FORK(name, child, arg_1, ...) - declare @child, and fork it. */
#define SLEY_FORK(name, child, ...)                                            \
	struct name##_fork child;                                              \
	__attribute__((cleanup(name##_join_forgotten),                         \
		       unused)) struct name##_forked child##_forked = {        \
		&child, name##_fork_private(&child, __VA_ARGS__)               \
	}

/* SLEY_JOIN(name, child) - the result of @child, when @child has ended. */
#define SLEY_JOIN(name, child) name##_join_forked(&child##_forked)

/* ---- private ---------------------------------------------------------------- */

#define SLEY_FORKABLE_PARTS(type, name, parameters, fields, set, get)          \
	type name(SLEY_UNPACK parameters);                                     \
	struct name##_fork {                                                   \
		struct sley_forked sley_fork;                                  \
		type sley_result;                                              \
		SLEY_UNPACK fields                                             \
	};                                                                     \
	static void name##_run_forked(void *sley_arg)                          \
	{                                                                      \
		struct name##_fork *sley_child =                               \
			(struct name##_fork *)sley_arg;                        \
                                                                               \
		sley_child->sley_result = name(SLEY_UNPACK get);               \
	}                                                                      \
	SLEY_FORKABLE_SHARED(name, parameters, set)                            \
	SLEY_MAYBE_UNUSED static inline type name##_join_private(              \
		struct name##_fork *sley_child, struct sley_forks *sley_forks) \
	{                                                                      \
		if (__builtin_expect(                                          \
			    sley_fork_pop_fast(sley_forks,                     \
					       &sley_child->sley_fork),        \
			    1))                                                \
			return name(SLEY_UNPACK get);                          \
		sley_fork_join_slow(&sley_child->sley_fork);                   \
		return sley_child->sley_result;                                \
	}                                                                      \
	SLEY_FORKABLE_JOINS(type, return, name)

#define SLEY_FORKABLE_VOID_PARTS(name, parameters, fields, set, get)           \
	void name(SLEY_UNPACK parameters);                                     \
	struct name##_fork {                                                   \
		struct sley_forked sley_fork;                                  \
		SLEY_UNPACK fields                                             \
	};                                                                     \
	static void name##_run_forked(void *sley_arg)                          \
	{                                                                      \
		struct name##_fork *sley_child =                               \
			(struct name##_fork *)sley_arg;                        \
                                                                               \
		name(SLEY_UNPACK get);                                         \
	}                                                                      \
	SLEY_FORKABLE_SHARED(name, parameters, set)                            \
	SLEY_MAYBE_UNUSED static inline void name##_join_private(              \
		struct name##_fork *sley_child, struct sley_forks *sley_forks) \
	{                                                                      \
		if (__builtin_expect(                                          \
			    sley_fork_pop_fast(sley_forks,                     \
					       &sley_child->sley_fork),        \
			    1))                                                \
			name(SLEY_UNPACK get);                                 \
		else                                                           \
			sley_fork_join_slow(&sley_child->sley_fork);           \
	}                                                                      \
	SLEY_FORKABLE_JOINS(void, , name)

#define SLEY_FORKABLE_SHARED(name, parameters, set)                             \
	struct name##_forked {                                                  \
		struct name##_fork *child;                                      \
		struct sley_forks *forks; /* NULL: joined */                    \
	};                                                                      \
	SLEY_MAYBE_UNUSED static inline struct sley_forks *name##_fork_private( \
		struct name##_fork *sley_child, SLEY_UNPACK parameters)         \
	{                                                                       \
		SLEY_UNPACK set return sley_fork_fast(&sley_child->sley_fork,   \
						      name##_run_forked,        \
						      sley_child);              \
	}                                                                       \
	SLEY_MAYBE_UNUSED static inline void name##_fork(                       \
		struct name##_fork *sley_child, SLEY_UNPACK parameters)         \
	{                                                                       \
		SLEY_UNPACK set(void)                                           \
			sley_fork_fast(&sley_child->sley_fork,                  \
				       name##_run_forked, sley_child);          \
	}

#define SLEY_FORKABLE_JOINS(type, give, name)                                  \
	SLEY_MAYBE_UNUSED static inline type name##_join(                      \
		struct name##_fork *sley_child)                                \
	{                                                                      \
		give name##_join_private(sley_child, sley_forks_fast());       \
	}                                                                      \
	SLEY_MAYBE_UNUSED static inline type name##_join_forked(               \
		struct name##_forked *sley_forked)                             \
	{                                                                      \
		struct sley_forks *sley_forks = sley_forked->forks;            \
                                                                               \
		sley_forked->forks = NULL;                                     \
		/* Joined before: sley_fork_join_slow() says so. */            \
		give name##_join_private(sley_forked->child,                   \
					 sley_forks ? sley_forks               \
						    : sley_forks_slow());      \
	}                                                                      \
	SLEY_MAYBE_UNUSED static inline void name##_join_forgotten(            \
		struct name##_forked *sley_forked)                             \
	{                                                                      \
		if (sley_forked->forks)                                        \
			(void)name##_join_private(sley_forked->child,          \
						  sley_forked->forks);         \
	}

#define SLEY_MAYBE_UNUSED __attribute__((unused))
#define SLEY_UNPACK(...) __VA_ARGS__

/* Each (type, name) of up to six pairs, in one of the forms that follow. */
#define SLEY_PAIRS(form, ...)                                                  \
	SLEY_PAIRS_PICK(__VA_ARGS__, SLEY_PAIRS_6, , SLEY_PAIRS_5, ,           \
			SLEY_PAIRS_4, , SLEY_PAIRS_3, , SLEY_PAIRS_2, ,        \
			SLEY_PAIRS_1, , 0)                                     \
	(form, __VA_ARGS__)
#define SLEY_PAIRS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, pick, ...) pick

#define SLEY_PAIRS_1(form, t1, a1) (SLEY_LAST_##form(t1, a1))
#define SLEY_PAIRS_2(form, t1, a1, t2, a2)                                     \
	(SLEY_MORE_##form(t1, a1) SLEY_LAST_##form(t2, a2))
#define SLEY_PAIRS_3(form, t1, a1, t2, a2, t3, a3)                             \
	(SLEY_MORE_##form(t1, a1) SLEY_MORE_##form(t2, a2)                     \
		 SLEY_LAST_##form(t3, a3))
#define SLEY_PAIRS_4(form, t1, a1, t2, a2, t3, a3, t4, a4)                     \
	(SLEY_MORE_##form(t1, a1) SLEY_MORE_##form(t2, a2)                     \
		 SLEY_MORE_##form(t3, a3) SLEY_LAST_##form(t4, a4))
#define SLEY_PAIRS_5(form, t1, a1, t2, a2, t3, a3, t4, a4, t5, a5)             \
	(SLEY_MORE_##form(t1, a1) SLEY_MORE_##form(t2, a2)                     \
		 SLEY_MORE_##form(t3, a3) SLEY_MORE_##form(t4, a4)             \
			 SLEY_LAST_##form(t5, a5))
#define SLEY_PAIRS_6(form, t1, a1, t2, a2, t3, a3, t4, a4, t5, a5, t6, a6)     \
	(SLEY_MORE_##form(t1, a1) SLEY_MORE_##form(t2, a2)                     \
		 SLEY_MORE_##form(t3, a3) SLEY_MORE_##form(t4, a4)             \
			 SLEY_MORE_##form(t5, a5) SLEY_LAST_##form(t6, a6))

#define SLEY_MORE_PARAMETER(type, name) type name,
#define SLEY_LAST_PARAMETER(type, name) type name
#define SLEY_MORE_FIELD(type, name) type name;
#define SLEY_LAST_FIELD(type, name) type name;
#define SLEY_MORE_SET(type, name) sley_child->name = name;
#define SLEY_LAST_SET(type, name) sley_child->name = name;
#define SLEY_MORE_GET(type, name) sley_child->name,
#define SLEY_LAST_GET(type, name) sley_child->name

#endif
