/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_function.h - nodes of a graph that are functions of any type.
 *
 *	SLEY_NODE_FUNCTION(scale, double *, x, size_t, nr, double, by)
 *
 *	int scale(double *x, size_t nr, double by)
 *	{
 *		for (size_t i = 0; i < nr; i++)
 *			x[i] *= by;
 *		return 0;
 *	}
 *	...
 *	err = scale_submit(graph, NULL,
 *			   SLEY_NODE_USES(SLEY_INOUT_N(x, nr * sizeof(*x))),
 *			   x, nr, 2.0);
 *
 * scale_submit() means the same as sley_graph_submit() of <sley/graph.h> with an
 * argument by value.  The compiler checks the types of the arguments, and that the
 * arguments fit.
 */
#ifndef SLEY_GRAPH_FUNCTION_H
#define SLEY_GRAPH_FUNCTION_H

#include <sley/forkable.h>
#include <sley/graph.h>

/*
 * SLEY_NODE_FUNCTION(name, type_1, arg_1, ...) - let a function be a node.
 *
 * Declares
 *
 *	int name(type_1 arg_1, ...);
 *	int name_submit(struct sley_graph *, sley_node *,
 *			const struct sley_node_spec *, type_1 arg_1, ...);
 *
 * where name_submit() is sley_graph_submit() of name() with these arguments.  The
 * spec may be NULL; its fields .fn, .arg and .arg_size are ignored.  The function
 * has one to six arguments, of SLEY_NODE_ARG_MAX bytes together at most, none of
 * them const itself.  The function returns 0 or a negative error, as a sley_node_fn
 * does.  If the function is static, declare it as static before the macro.  No
 * semicolon follows the macro.
 */
#define SLEY_NODE_FUNCTION(name, ...)                                          \
	SLEY_NODE_FUNCTION_PARTS(name, SLEY_PAIRS(PARAMETER, __VA_ARGS__),     \
				 SLEY_PAIRS(FIELD, __VA_ARGS__),               \
				 SLEY_PAIRS(SET, __VA_ARGS__),                 \
				 SLEY_PAIRS(GET, __VA_ARGS__))

/* SLEY_NODE_USES(access...) - the spec of a node with these accesses. */
#ifndef __cplusplus
#define SLEY_NODE_USES(...)                                                    \
	SLEY_NODE_SPEC(.access = (const struct sley_access[]){ __VA_ARGS__ },  \
		       .nr_access =                                            \
			       sizeof((struct sley_access[]){ __VA_ARGS__ }) / \
			       sizeof(struct sley_access))
#endif

/* ---- private ---------------------------------------------------------------- */

#define SLEY_NODE_FUNCTION_PARTS(name, parameters, fields, set, get)           \
	int name(SLEY_UNPACK parameters);                                      \
	struct name##_arguments {                                              \
		SLEY_UNPACK fields                                             \
	};                                                                     \
	/* An array of -1 elements: the arguments are too long for a node. */  \
	typedef char name##_arguments_fit[sizeof(struct name##_arguments) <=   \
							  SLEY_NODE_ARG_MAX    \
						  ? 1                          \
						  : -1] SLEY_MAYBE_UNUSED;     \
	static int name##_run_node(void *sley_arg)                             \
	{                                                                      \
		struct name##_arguments *sley_child =                          \
			(struct name##_arguments *)sley_arg;                   \
                                                                               \
		return name(SLEY_UNPACK get);                                  \
	}                                                                      \
	SLEY_MAYBE_UNUSED SLEY_MUST_CHECK static inline int name##_submit(     \
		struct sley_graph *sley_in, sley_node *sley_named,             \
		const struct sley_node_spec *sley_given,                       \
		SLEY_UNPACK parameters)                                        \
	{                                                                      \
		struct name##_arguments sley_arguments;                        \
		struct name##_arguments *sley_child = &sley_arguments;         \
		struct sley_node_spec sley_spec = SLEY_ZEROED;                 \
                                                                               \
		SLEY_UNPACK set if (sley_given) sley_spec = *sley_given;       \
		sley_spec.size = sizeof(sley_spec);                            \
		sley_spec.fn = name##_run_node;                                \
		sley_spec.arg = sley_child;                                    \
		sley_spec.arg_size = sizeof(sley_arguments);                   \
		return sley_graph_submit(sley_in, sley_named, &sley_spec);     \
	}

#endif
