/* SPDX-License-Identifier: MIT */
/*
 * neighbour.c - where requests go whose containers are on other machines: C11, C17 to
 * C19, R-C5.
 */
#include "conformance/route/fake_neighbour.h"

/* ---- where a request goes ------------------------------------------------------------- */

TEST_WORKERS(c11_a_request_for_another_machine_is_handed_over)
{
	struct scene scene = scene_start(2, ANSWERS);
	const struct parcel *parcel = &fake.sent[0];
	uint64_t deadline_ns = in_ms(60000);
	char out[4];
	size_t size;

	CHECK_EQ(sley_pool_call(
			 scene.pool,
			 SLEY_REQUEST(.query = sley_query_physical(7),
				      .in = "key", .in_size = 3, .out = out,
				      .out_size = 4, .priority = -1, .group = 5,
				      .io_size = 6, .deadline_ns = deadline_ns),
			 &size),
		 0);
	CHECK(size == 1 && out[0] == 'A');
	CHECK_EQ(atomic_load(&fake.nr_sent), 1);
	CHECK_EQ(parcel->machine, 7);
	CHECK_STR(parcel->pool, "p");
	CHECK_EQ(parcel->query.kind, SLEY_QUERY_PHYSICAL);
	CHECK_EQ(parcel->query.first, 0);
	CHECK_EQ(memcmp(fake.in, "key", 3), 0);
	CHECK_EQ(parcel->in_size, 3);
	CHECK_EQ(parcel->out_size, 4);
	CHECK_EQ(parcel->method, LETTER);
	CHECK_EQ(parcel->priority, -1);
	CHECK_EQ(parcel->group, 5);
	CHECK_EQ(parcel->io_size, 6);
	CHECK_EQ(parcel->deadline_ns, deadline_ns);
	CHECK_EQ(atomic_load(&nr_ran), 0);
	check_word(scene.pool, sley_query_physical(0), "a");
	check_word(scene.pool, sley_query_local(), "a");
	CHECK_EQ(atomic_load(&fake.nr_sent), 1);
	scene_stop(&scene);
}

TEST_WORKERS(c11_a_dynamic_query_leaves_as_a_concrete_one)
{
	struct scene scene = scene_start(4, ANSWERS);

	move(3, 1, 9);
	scheduled = sley_query_hash(7);
	check_word(scene.pool, sley_query_dynamic(), "D");
	CHECK_EQ(atomic_load(&nr_scheduled), 1);
	CHECK_EQ(fake.sent[0].query.kind, SLEY_QUERY_ID);
	CHECK_EQ(fake.sent[0].query.first, 3);
	scheduled = sley_query_physical(2);
	check_word(scene.pool, sley_query_dynamic(), "A");
	CHECK_EQ(fake.sent[1].machine, 2);
	scene_stop(&scene);
}

TEST_WORKERS(c11_a_neighbour_comes_before_the_first_pool)
{
	struct scene scene = scene_start(1, ANSWERS);
	struct sley_router *router;
	struct sley_pool *pool;

	CHECK_EQ(neighbour_start(scene.router, &fake_ops, &fake), -EEXIST);
	CHECK_EQ(sley_router_create(scene.rt, &router, NULL), 0);
	CHECK_EQ(sley_router_add(router, &letters), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "letters")),
		 0);
	CHECK_EQ(neighbour_start(router, &fake_ops, &fake), -EBUSY);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	scene_stop(&scene);
}

TEST_WORKERS(c17_a_hash_leaves_as_the_number_of_its_container)
{
	struct scene scene = scene_start(4, ANSWERS);

	move(2, 2, 1);
	check_word(scene.pool, sley_query_hash(9), "b");
	CHECK_EQ(atomic_load(&fake.nr_sent), 0);
	check_word(scene.pool, sley_query_within(sley_query_hash(10), 250),
		   "C");
	CHECK_EQ(fake.sent[0].query.kind, SLEY_QUERY_ID);
	CHECK_EQ(fake.sent[0].query.first, 2);
	CHECK_EQ(fake.sent[0].query.timeout, 251);
	check_word(scene.pool, sley_query_id(3), "D");
	check_word(scene.pool, sley_query_range(3, 1), "D");
	CHECK_EQ(fake.sent[2].query.kind, SLEY_QUERY_ID);
	scene_stop(&scene);
}

static void come_home(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_hash(6), 0);
	char word;

	move(2, 1, 0);
	neighbour_changed(scene->router);
	CHECK_EQ(sley_request_wait(&out->request), 0);
	word = out->word[0];
	CHECK_EQ(sley_request_answer_size(&out->request), 1);
	CHECK_EQ(end_out(out), 0);
	CHECK_EQ(word, 'c');
	CHECK_EQ(atomic_load(&fake.nr_sent), 1);
}

TEST_WORKERS(c17_a_container_that_has_moved_is_found_by_the_next_try)
{
	struct scene scene = scene_start(4, UNREACHABLE);

	move(2, 1, 1);
	run_task(come_home, &scene);
	scene_stop(&scene);
}

/* ---- ranges --------------------------------------------------------------------------- */

static void check_sent(int i, uint64_t first, uint64_t count, uint64_t machine)
{
	const struct sley_query *query = &fake.sent[i].query;

	CHECK_EQ(query->kind, count > 1 ? SLEY_QUERY_RANGE : SLEY_QUERY_ID);
	CHECK_EQ(query->first, first);
	if (count > 1)
		CHECK_EQ(query->count, count);
	CHECK_EQ(fake.sent[i].machine, machine);
}

static int by_first(const void *a, const void *b)
{
	const struct parcel *x = a, *y = b;

	return (x->query.first > y->query.first) -
	       (x->query.first < y->query.first);
}

/* 100 containers are 4 sub-ranges of 4, and 28 of 3. */
TEST_WORKERS(c18_a_sub_range_goes_to_the_machine_of_its_first_container)
{
	struct scene scene = scene_start(100, ANSWERS);
	char out[MOST + 1];

	move(0, 2, 5); /* takes 2 and 3 with it                */
	move(8, 4, 6);
	move(5, 2, 7); /* in the middle: 4 to 7 are cut again  */
	move(97, 3, 8);
	move(96, 1, 9);
	CHECK_EQ(ask(scene.pool, sley_query_broadcast(), out), 0);
	CHECK_EQ(strlen(out), 100);
	qsort(fake.sent, (size_t)fake.nr_sent, sizeof(fake.sent[0]), by_first);
	CHECK_EQ(atomic_load(&fake.nr_sent), 6);
	check_sent(0, 0, 4, 5);
	check_sent(1, 5, 1, 7);
	check_sent(2, 6, 1, 7);
	check_sent(3, 8, 4, 6);
	check_sent(4, 96, 1, 9);
	check_sent(5, 97, 3, 8);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(out[i] | 0x20, 'a' + i % 26);
	scene_stop(&scene);
}

TEST_WORKERS(c18_a_range_that_is_all_elsewhere_is_one_sub_range_each)
{
	struct scene scene = scene_start(40, ANSWERS);

	move(0, 40, 1);
	check_word(scene.pool, sley_query_range(38, 2), "MN");
	CHECK_EQ(atomic_load(&fake.nr_sent), 2);
	check_word(scene.pool, sley_query_range(5, 33),
		   "FGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL");
	CHECK_EQ(atomic_load(&fake.nr_sent), 2 + 32);
	CHECK_EQ(atomic_load(&nr_ran), 0);
	scene_stop(&scene);
}

TEST_WORKERS(c19_a_broadcast_adds_answers_from_elsewhere_in_their_order)
{
	struct scene scene = scene_start(6, ANSWERS);

	move(2, 2, 1);
	move(5, 1, 2);
	check_word(scene.pool, sley_query_broadcast(), "abCDeF");
	CHECK_EQ(atomic_load(&fake.nr_sent), 3);
	CHECK_EQ(atomic_load(&nr_ran), 3);
	scene_stop(&scene);
}

TEST_WORKERS(c19_a_machine_that_is_gone_counts_as_a_part_that_failed)
{
	struct scene scene = scene_start(4, UNREACHABLE);
	char out[MOST + 1];

	move(1, 1, 1);
	CHECK_EQ(ask(scene.pool, sley_query_within(sley_query_broadcast(), 0),
		     out),
		 -EHOSTUNREACH);
	CHECK_EQ(atomic_load(&nr_ran), 3);
	scene_stop(&scene);
}

static void cancel_broadcast(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_broadcast(), 0);

	await_sent(2);
	sley_request_cancel(&out->request);
	CHECK_EQ(end_out(out), -ECANCELED);
	CHECK_EQ(atomic_load(&fake.nr_dropped), 2);
	answer_in_vain();
}

TEST_WORKERS(rc5_a_broadcast_that_waits_for_machines_is_cancelled_once)
{
	struct scene scene = scene_start(3, KEEPS);

	move(1, 2, 1);
	run_task(cancel_broadcast, &scene);
	scene_stop(&scene);
}
