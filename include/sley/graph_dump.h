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
 * There is a box for each node with its name and how long it took, in the colour
 * of what became of it.  The critical path is bold: the chain of nodes that took
 * longest, which no number of workers makes shorter.  What failed, and what was
 * skipped for it, is joined by red arrows.
 *
 * The picture has all nodes since the last sley_graph_wait(), or, if nothing was
 * submitted after that, those it has waited for.
 */
#ifndef SLEY_GRAPH_DUMP_H
#define SLEY_GRAPH_DUMP_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

enum sley_graph_dump_format {
	SLEY_GRAPH_DUMP_DOT = 0, /* for dot(1) of graphviz  */
	SLEY_GRAPH_DUMP_SVG = 1, /* for browsers, as it is  */
};

/* Takes the next @length bytes of the text: 0, or a negative error. */
typedef int sley_graph_dump_fn(void *arg, const char *text, size_t length);

/*
 * sley_graph_dump - draw @graph, which was created with .picture.
 *
 * The graph may run meanwhile: it is drawn as it was at some moment of the call.
 * @put is called in the context of the caller, and may do all it may do.
 *
 * Context:  any thread
 * Blocks:   the fiber, while another caller is in the graph; a plain thread
 *           sleeps
 * Owner:    the text is borrowed for the call of @put.
 * Errors:   -EINVAL  it has no picture, or there is no such format
 *           -ENOMEM
 *           what @put returned, which is not called again then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_graph_dump(struct sley_graph *graph, enum sley_graph_dump_format format,
		sley_graph_dump_fn *put, void *arg);

SLEY_END_DECLS
#endif
