/* SPDX-License-Identifier: MIT */
/*
 * sley/graph_dump.h - a graph as a text, for programs that draw it.
 *
 *	static int put(void *file, const char *text, size_t length)
 *	{
 *		return fwrite(text, 1, length, file) == length ? 0 : -EIO;
 *	}
 *
 *	err = sley_graph_create(&g, SLEY_GRAPH_OPTIONS(.picture = true));
 *	...
 *	err = sley_graph_wait(g);
 *	err = sley_graph_dump(g, SLEY_GRAPH_DUMP_JSON, put, file);
 *
 * "sley draw run.json -o run.svg" makes a picture of the text, for browsers.  Each
 * node is a box with its name and its running time, in the colour of its outcome.
 * The critical path is bold: the chain of nodes that took longest, which no number
 * of workers makes shorter.  Red arrows join a failed node to the nodes that were
 * skipped because of the failure.
 *
 * The picture has all nodes that were submitted since the last sley_graph_wait().
 * If nothing was submitted since, it has the nodes that this call waited for.
 *
 * SLEY_GRAPH_DUMP_JSON writes one object, in UTF-8, a node and an edge on a line
 * each.  All of these members are always there:
 *
 *	"sley_graph"      1, the version of this schema
 *	"name"            of the graph
 *	"now_ns"          when it was written
 *	"nodes_left_out"  for which the picture had no room; so "edges_left_out"
 *	"nodes"           in the order of their submission:
 *	  "id"            the place in this array: 0, 1, 2
 *	  "name"          or the address of the function, if the node has no name
 *	  "state"         "waiting" for other nodes, "ready", "running", "done",
 *	                  "failed" or "skipped"
 *	  "depth"         of the scope that the node is in; 0 is the graph
 *	  "start_ns"      null before the node runs, and for a skipped node
 *	  "end_ns"        null before the node ends, and for a skipped node
 *	  "worker"        that ended the node; null where "end_ns" is
 *	  "code"          the error of a failed or skipped node, otherwise 0
 *	  "error"         the same in words; null for 0
 *	"edges"           "from" an earlier node "to" a later one, both by their id:
 *	  "kind"          "need"; "order", if the later node only comes after the
 *	                  earlier one; "failure", if it needed the earlier node and
 *	                  was skipped for it
 *	"critical_path"   the ids of its nodes, from the first to the last
 *
 * Times are whole nanoseconds since the first node of the picture has begun.  Bytes
 * of a name that are no UTF-8 are U+FFFD.  A later release may add members, which a
 * reader passes over; if it changes or drops one, the version changes.
 */
#ifndef SLEY_GRAPH_DUMP_H
#define SLEY_GRAPH_DUMP_H

#include <sley/compiler.h>
#include <sley/graph.h>

SLEY_BEGIN_DECLS

enum sley_graph_dump_format {
	SLEY_GRAPH_DUMP_DOT = 0,  /* for dot(1) of graphviz  */
	SLEY_GRAPH_DUMP_JSON = 1, /* for "sley draw", and any other program */
};

/* Takes the next @length bytes of the text: 0, or a negative error. */
typedef int sley_graph_dump_fn(void *arg, const char *text, size_t length);

/*
 * sley_graph_dump - write @graph, which was created with .picture.
 *
 * The graph may run meanwhile: the text shows the graph at some moment of the
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
