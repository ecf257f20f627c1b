/* SPDX-License-Identifier: MIT */
/*
 * sley/query.h - queries: which containers of a pool a request goes to.
 *
 * A pool (<sley/pool.h>) has containers, numbered from 0.  A request carries a
 * *query*, which says where the request runs:
 *
 *   sley_query_local()        in the container of the caller, see below
 *   sley_query_dynamic()      where the module says: its schedule() answers with
 *                             another query
 *   sley_query_id(n)          in container n
 *   sley_query_hash(h)        in one container, the same for the same hash h
 *   sley_query_range(o, n)    in n containers, from container o on
 *   sley_query_broadcast()    in all containers
 *   sley_query_physical(n)    on machine n; this machine is machine 0
 *
 * As a text, in any mixture of upper and lower case:
 *
 *   local  dynamic  direct_id:3  direct_hash:42  range:0:8  broadcast  physical:0
 *
 * The container of the caller is the container whose method makes the request, if it
 * is a container of the same pool; for all other callers it is container 0.
 *
 * A query may have a time-out.  It bounds how long a request waits for a container
 * that cannot take requests now, because it is drained or upgraded: 0 fails at once.
 * As a text, the time-out in milliseconds follows the query: "direct_id:3@250".
 */
#ifndef SLEY_QUERY_H
#define SLEY_QUERY_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

enum sley_query_kind {
	SLEY_QUERY_LOCAL, /* zeroed memory is a local query */
	SLEY_QUERY_DYNAMIC,
	SLEY_QUERY_ID,
	SLEY_QUERY_HASH,
	SLEY_QUERY_RANGE,
	SLEY_QUERY_BROADCAST,
	SLEY_QUERY_PHYSICAL,
};

/* A query: copy it as you like.  Use the constructors. */
struct sley_query {
	uint32_t kind; /* one of enum sley_query_kind                      */
	/*
	 * 0: the request waits without limit; n: for n - 1 milliseconds.  Use
	 * sley_query_within().
	 */
	uint32_t timeout;
	uint64_t first; /* container, hash, machine, or first of a range    */
	uint64_t count; /* of a range                                       */
};

/* Room for the text of any query, with the 0 at its end. */
#define SLEY_QUERY_TEXT 80

/* The longest time-out of a query, in milliseconds: about 49 days. */
#define SLEY_QUERY_TIMEOUT_MAX (UINT32_MAX - 1)

/*
 * sley_query_local - in the container of the caller.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_local(void)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_LOCAL;
	return query;
}

/*
 * sley_query_dynamic - where schedule() of the module says.
 *
 * A module without schedule(), or one that answers with a dynamic query again, runs
 * the request as a local one.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_dynamic(void)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_DYNAMIC;
	return query;
}

/*
 * sley_query_id - in the container with the number @id.
 *
 * A request to a container that does not exist ends with -ENXIO.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_id(uint64_t id)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_ID;
	query.first = id;
	return query;
}

/*
 * sley_query_hash - in the container @hash modulo the number of containers.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_hash(uint64_t hash)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_HASH;
	query.first = hash;
	return query;
}

/*
 * sley_query_range - in @count containers, from @first on.
 *
 * The request runs once in each of the containers; the answers become one answer, see
 * combine() in <sley/module.h>.  An empty range ends with -EINVAL, a range beyond
 * the last container with -ENXIO.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_range(uint64_t first, uint64_t count)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_RANGE;
	query.first = first;
	query.count = count;
	return query;
}

/*
 * sley_query_broadcast - in all containers of the pool, as a range.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_broadcast(void)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_BROADCAST;
	return query;
}

/*
 * sley_query_physical - on the machine with the number @machine.
 *
 * This machine has the number 0, and there the query is a local one.  There are no
 * other machines so far: a request to one ends with -EHOSTUNREACH.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_physical(uint64_t machine)
{
	struct sley_query query = SLEY_ZEROED;

	query.kind = SLEY_QUERY_PHYSICAL;
	query.first = machine;
	return query;
}

/*
 * sley_query_within - the same query with a time-out of @ms milliseconds.
 *
 * A larger @ms than SLEY_QUERY_TIMEOUT_MAX counts as that.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_query
sley_query_within(struct sley_query query, uint64_t ms)
{
	query.timeout = 1 + (uint32_t)(ms < SLEY_QUERY_TIMEOUT_MAX
					       ? ms
					       : SLEY_QUERY_TIMEOUT_MAX);
	return query;
}

/*
 * sley_query_parse - the query that @text names.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @text is borrowed for the call; *@query is written on success only.
 * Errors:   -EINVAL   an unknown word, a number that is missing or none, or
 *                     something behind the query
 *           -ERANGE   a number above 2^64 - 1, or a time-out above
 *                     SLEY_QUERY_TIMEOUT_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_query_parse(struct sley_query *query, const char *text);

/*
 * sley_query_text - a query as a text, which sley_query_parse() can read.
 *
 * Returns the length of the text, without the 0 at its end.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @text is borrowed for the call; @size bytes.
 * Errors:   -ENOSPC   @text is too small; SLEY_QUERY_TEXT bytes are enough
 *           -EINVAL   @query is of no kind
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_query_text(const struct sley_query *query, char *text, size_t size);

SLEY_END_DECLS
#endif
