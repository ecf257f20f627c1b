/* SPDX-License-Identifier: MIT */
/*
 * graph_records.c - see graph_records.h.
 */
#include "stress/graph_records.h"

#include <sley/error.h>
#include <sley/graph_buffer.h>

#include "os/fault.h"

struct record records[NR_RECORDS];
int nr_round;
atomic_int nr_records;
atomic_int nr_careful;
struct sley_graph *the_graph;
char cells[512];
struct books books;

/* ---- memory that is missing ------------------------------------------------------ */

#ifdef SLEY_FAULTS
static int fail_some(const struct fault_site *site)
{
	bool is_ours = strstr(site->file, "graph/") ||
		       strstr(site->file, "mem/array");

	if (!is_ours || atomic_load(&nr_careful) || !one_in(20))
		return 0;
	COUNT(faults);
	return site->error[0];
}

void records_begin_faults(void)
{
	fault_set_plan(fail_some);
}

void records_end_faults(void)
{
	fault_set_plan(NULL);
}
#else
void records_begin_faults(void)
{
}

void records_end_faults(void)
{
}
#endif

/* ---- a node ------------------------------------------------------------------------ */

static void submit_plain(struct episode *episode);
static void drop(void *buffer);

/* Who gets the same memory next fills it with something else. */
static void use_buffer(const struct record *r)
{
	unsigned char tag =
		(unsigned char)((uintptr_t)r->buffer >> 6 ^ r->size);

	for (uint32_t i = 0; i < r->size; i++) {
		if (r->writes)
			r->buffer[i] = tag;
		else
			CHECK_EQ(r->buffer[i], tag);
	}
	if (!r->writes)
		r->buffer[0]++;
}

/* A node does not wait for one. */
static void take_and_drop(void)
{
	void *buffer;
	int err = sley_graph_buffer(the_graph, NULL, 1 + test_random(1000),
				    &buffer);

	CHECK(!err || err == -EAGAIN || err == SLEY_EARENA || err == -ENOMEM);
	drop(buffer);
}

static int run_record(void *arg)
{
	struct record *r = *(struct record **)arg;
	bool fails = one_in(60);

	CHECK_LT(sley_node_member(), r->gang ? r->gang : 1);
	if (sley_node_member() != 0)
		return 0;
	CHECK_EQ(atomic_fetch_add(&r->nr_runs, 1), 0);
	atomic_store(&r->how, RUNNING);
	if (one_in(16))
		dawdle();
	if (r->buffer)
		use_buffer(r);
	if (one_in(8))
		submit_plain(r->episode && !r->episode->left ? r->episode
							     : NULL);
	if (one_in(64))
		take_and_drop();
	atomic_store(&r->how, fails ? FAILED : WELL);
	return fails ? -EIO : 0;
}

/* ---- who submits --------------------------------------------------------------------- */

/* NULL: that was enough for this round, or for the episode. */
static struct record *new_record(struct episode *episode)
{
	int at = 0, nr;

	if (episode) {
		at = atomic_fetch_add(&episode->nr, 1);
		if (at >= NR_EPISODE) {
			atomic_fetch_sub(&episode->nr, 1);
			return NULL;
		}
	}
	nr = atomic_fetch_add(&nr_records, 1);
	if (nr >= nr_round) {
		if (episode)
			atomic_store(&episode->record[at], NOBODY);
		return NULL;
	}
	records[nr].episode = episode;
	if (episode)
		atomic_store(&episode->record[at], nr);
	return &records[nr];
}

static void submit(struct record *r, struct sley_node_spec *spec)
{
	sley_node id = SLEY_NO_NODE;
	int err;

	spec->size = sizeof(*spec);
	spec->fn = run_record;
	spec->arg = &r;
	spec->arg_size = sizeof(r);
	spec->scope = r->episode ? r->episode->scope : NULL;
	r->gang = spec->gang;
	err = sley_graph_submit_until(the_graph, &id, spec,
				      one_in(4) ? soon() : SLEY_FOREVER);
	CHECK(!err || err == -EAGAIN || err == -ENOMEM || err == -ECANCELED);
	CHECK_EQ(!err, id != SLEY_NO_NODE);
	r->id = id;
	if (err)
		COUNT(refused);
	else
		COUNT(submitted);
	atomic_store(&r->state, err ? REFUSED : SUBMITTED);
	test_count(1);
}

/*
 * By a node: with no edges.  The run after that of the node may be built already, and
 * to come after something of it is a circle.
 */
static void submit_plain(struct episode *episode)
{
	struct sley_node_spec spec = { .priority = one_in(8) ? 1 : 0 };
	struct record *r = new_record(episode);

	if (r)
		submit(r, &spec);
}

uint32_t choose_edges(sley_node *ids, uint32_t max)
{
	int nr = atomic_load(&nr_records);
	uint32_t found = 0;

	for (uint32_t i = 0; i < max; i++) {
		int at = nr - 1 - (int)test_random(64);

		if (at >= 0 && at < nr_round &&
		    atomic_load(&records[at].state) == SUBMITTED)
			ids[found++] = records[at].id;
	}
	return found;
}

static uint32_t choose_access(struct sley_access *access, uint32_t max)
{
	static const enum sley_access_mode modes[] = {
		SLEY_ACCESS_NONE, SLEY_ACCESS_READ, SLEY_ACCESS_READ,
		SLEY_ACCESS_WRITE, SLEY_ACCESS_UPDATE
	};
	uint32_t nr = (uint32_t)test_random(max + 1);

	for (uint32_t i = 0; i < nr; i++) {
		size_t at = test_random(sizeof(cells));
		size_t most = sizeof(cells) - at;

		access[i] = sley_access_of(
			&cells[at], test_random(most < 24 ? most + 1 : 24),
			modes[test_random(ARRAY_SIZE(modes))]);
	}
	return nr;
}

static void choose_workers(struct sley_node_spec *spec)
{
	static const uint64_t some = 0x6;

	if (one_in(3)) {
		spec->gang = 2 + (uint32_t)test_random(3);
		return;
	}
	spec->affinity = 2 + (uint32_t)test_random(2);
	if (one_in(2)) {
		spec->eligible = &some;
		spec->nr_eligible = 1;
		spec->affinity = one_in(2) ? spec->affinity : 0;
	}
}

void submit_any(struct episode *episode)
{
	struct record *r = new_record(episode);
	sley_node after[12], order[12];
	struct sley_access access[3];
	struct sley_node_spec spec = { .access = access,
				       .after = after,
				       .order = order };

	if (!r)
		return;
	if (one_in(4))
		spec.nr_after = choose_edges(after, one_in(8) ? 12 : 2);
	if (one_in(4))
		spec.nr_order = choose_edges(order, one_in(8) ? 12 : 2);
	if (one_in(2))
		spec.nr_access = choose_access(access, 3);
	if (one_in(16))
		choose_workers(&spec);
	if (one_in(16))
		spec.priority = (int32_t)test_random(3) - 1;
	submit(r, &spec);
}

/* ---- buffers --------------------------------------------------------------------------- */

/* Without memory it would stay until the graph is destroyed. */
static void drop(void *buffer)
{
	atomic_fetch_add(&nr_careful, 1);
	sley_graph_buffer_drop(the_graph, buffer);
	atomic_fetch_sub(&nr_careful, 1);
}

static bool submit_user(struct episode *episode, void *buffer, uint32_t size,
			bool writes)
{
	struct sley_access all = sley_access_of(
		buffer, size, writes ? SLEY_ACCESS_WRITE : SLEY_ACCESS_UPDATE);
	struct sley_node_spec spec = { .access = &all, .nr_access = 1 };
	struct record *r = new_record(episode);

	if (!r)
		return false;
	r->buffer = buffer;
	r->size = size;
	r->writes = writes;
	submit(r, &spec);
	return atomic_load(&r->state) == SUBMITTED;
}

void pass_buffer(struct episode *episode)
{
	uint32_t size = 1 + (uint32_t)test_random(4096);
	struct sley_graph_scope *scope = episode ? episode->scope : NULL;
	void *buffer;
	int err = sley_graph_buffer_until(the_graph, scope, size,
					  one_in(2) ? soon() : SLEY_FOREVER,
					  &buffer);

	CHECK(!err || err == -EAGAIN || err == SLEY_EARENA || err == -ENOMEM);
	if (err)
		return;
	COUNT(buffers);
	if (submit_user(episode, buffer, size, true))
		(void)submit_user(episode, buffer, size, false);
	if (!episode || one_in(2))
		drop(buffer);
}
