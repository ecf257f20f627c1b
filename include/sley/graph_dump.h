/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_dump.h - a graph as a picture.
 *
 *	static int put(void *file, const char *text, size_t length)
 *	{
 *		return fwrite(text, 1, length, file) == length ? 0 : -EIO;
 *	}
 *
 *	err = sley_graph_create(&g, SLEY_GRAPH_OPTIONS(.picture = true));
 *	...
 *	err = sley_graph_wait(g);
 *	err = sley_graph_dump(g, SLEY_GRAPH_DUMP_SVG, put, file);
 *
 * Each node is a box with its name and its running time, in the colour of its
 * outcome.  The critical path is bold: the chain of nodes that took longest, which
 * no number of workers makes shorter.  Red arrows join a failed node to the nodes
 * that were skipped because of the failure.
 *
 * The picture has all nodes that were submitted since the last sley_graph_wait().
 * If nothing was submitted since, it has the nodes that this call waited for.
 */
#ifndef SLEY_GRAPH_DUMP_H
#define SLEY_GRAPH_DUMP_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

enum sley_graph_dump_format {
	SLEY_GRAPH_DUMP_DOT = 0, /* for dot(1) of graphviz  */
	SLEY_GRAPH_DUMP_SVG = 1, /* for browsers, directly  */
};

/* Takes the next @length bytes of the text: 0, or a negative error. */
typedef int sley_graph_dump_fn(void *arg, const char *text, size_t length);

/*
 * sley_graph_dump - draw @graph, which was created with .picture.
 *
 * The graph may run meanwhile: the picture shows the graph at some moment of the
 * call.  @put is called in the context of the caller, and may do everything that the
 * caller may do.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    the text is borrowed for the call of @put.
 * Errors:   -EINVAL  the graph was created without .picture, or there is no such
 *                    format
 *           -ENOMEM  there is no memory for the picture
 *           the error that @put returned; @put is not called again then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_dump(struct sley_graph *graph, enum sley_graph_dump_format format,
		sley_graph_dump_fn *put, void *arg);

SLEY_END_DECLS
#endif
