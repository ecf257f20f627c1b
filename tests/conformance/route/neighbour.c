/* SPDX-License-Identifier: MIT */
/*
 * neighbour.c - requests for containers on other machines, with a neighbour that is a
 * fake: C11, C15, C17 to C19, C24, R-C5, R-C14.
 *
 * Container n answers with its letter: a small one here, a capital one elsewhere.  The
 * answers of several containers are a word.
 */
#include "conformance/bound.h"

#include "route/neighbour.h"

#include <pthread.h>
#include <sched.h>

#define MOST 128 /* containers, and parcels of a test */

enum mood {
	ANSWERS,     /* at once, while send() runs        */
	KEEPS,       /* the test answers, or nobody does  */
	UNREACHABLE, /* -EHOSTUNREACH                     */
	REFUSES,     /* -E2BIG                            */
};

static struct fake {
	struct sley_router *router;
	struct sley_mutex lock;
	atomic_int mood, nr_sent, nr_dropped, nr_stopped;
	atomic_int machine[MOST]; /* of each container                    */
	struct parcel sent[MOST]; /* (lock)                               */
	char in[8];               /* of the last (lock)                   */
	struct ticket dropped;
} fake;

/* ---- the fake ----------------------------------------------------------------------- */

static uint64_t owner(void *self, const char *pool, uint32_t container)
{
	CHECK(self == &fake);
	CHECK_STR(pool, "p");
	return (uint64_t)atomic_load(&fake.machine[container]);
}

/* As the other machine would answer. */
static int answer(const struct parcel *parcel)
{
	const struct sley_query *query = &parcel->query;
	uint64_t nr = query->kind == SLEY_QUERY_RANGE ? query->count : 1;
	char word[MOST];

	for (uint64_t i = 0; i < nr; i++)
		word[i] = (char)('A' + (query->first + i) % 26);
	return neighbour_answer(fake.router, parcel->ticket, 0, word,
				parcel->out_size ? nr : 0);
}

static void keep(const struct parcel *parcel)
{
	sley_mutex_lock(&fake.lock);
	CHECK(atomic_load(&fake.nr_sent) < MOST);
	fake.sent[atomic_load(&fake.nr_sent)] = *parcel;
	if (parcel->in_size && parcel->in_size <= sizeof(fake.in))
		memcpy(fake.in, parcel->in, parcel->in_size);
	atomic_fetch_add(&fake.nr_sent, 1);
	sley_mutex_unlock(&fake.lock);
}

static int send(void *self, const struct parcel *parcel)
{
	enum mood mood = (enum mood)atomic_load(&fake.mood);

	CHECK(self == &fake);
	keep(parcel);
	switch (mood) {
	case ANSWERS:
		return answer(parcel);
	case UNREACHABLE:
		return -EHOSTUNREACH;
	case REFUSES:
		return -E2BIG;
	default:
		return 0;
	}
}

static void drop(void *self, struct ticket ticket)
{
	CHECK(self == &fake);
	fake.dropped = ticket;
	atomic_fetch_add(&fake.nr_dropped, 1);
}

static void stop_sending(void *self)
{
	CHECK(self == &fake);
	atomic_fetch_add(&fake.nr_stopped, 1);
}

static const struct neighbour_ops fake_ops = {
	.owner = owner,
	.send = send,
	.drop = drop,
	.stop = stop_sending,
};

/* ---- the module --------------------------------------------------------------------- */

enum { LETTER };

static atomic_int nr_ran, nr_scheduled;
static struct sley_query scheduled;

static int create(void **self, const struct sley_container_info *info)
{
	*self = (void *)(uintptr_t)info->id;
	return 0;
}

static int letter(void *self, struct sley_request *request)
{
	char letter = (char)('a' + (uintptr_t)self % 26);

	atomic_fetch_add(&nr_ran, 1);
	return request->out_size ? sley_request_answer(request, &letter, 1) : 0;
}

static int append(void *into, size_t room, size_t *size, const void *from,
		  size_t from_size)
{
	if (*size + from_size > room)
		return -EMSGSIZE;
	memcpy((char *)into + *size, from, from_size);
	*size += from_size;
	return 0;
}

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	(void)self;
	(void)request;
	atomic_fetch_add(&nr_scheduled, 1);
	return scheduled;
}

static const struct sley_method methods[] = {
	[LETTER] = { .name = "letter", .run = letter, .combine = append },
};

static const struct sley_module letters = {
	SLEY_MODULE_HEAD("letters"),
	.methods = methods,
	.nr_methods = 1,
	.create = create,
	.schedule = schedule,
};

/* ---- the scene ---------------------------------------------------------------------- */

struct scene {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

/* A pool of @nr containers, all of them here. */
static struct scene scene_start(uint32_t nr, enum mood mood)
{
	struct scene scene = { .rt = start() };

	memset(&fake, 0, sizeof(fake));
	atomic_store(&fake.mood, mood);
	atomic_store(&nr_ran, 0);
	atomic_store(&nr_scheduled, 0);
	CHECK_EQ(sley_router_create(scene.rt, &scene.router, NULL), 0);
	fake.router = scene.router;
	CHECK_EQ(neighbour_start(scene.router, &fake_ops, &fake), 0);
	CHECK_EQ(sley_router_add(scene.router, &letters), 0);
	CHECK_EQ(sley_pool_open(scene.router, &scene.pool, "p",
				SLEY_POOL_OPTIONS(.module = "letters",
						  .containers = nr)),
		 0);
	return scene;
}

static void scene_stop(struct scene *scene)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	CHECK_EQ(sley_router_get_stats(scene->router, &stats), 0);
	CHECK_EQ(stats.submitted, stats.completed);
	sley_pool_close(scene->pool);
	CHECK_EQ(sley_router_destroy(scene->router), 0);
	CHECK_EQ(atomic_load(&fake.nr_stopped), 1);
	stop(scene->rt);
}

static void move(uint32_t first, uint32_t nr, int machine)
{
	for (uint32_t i = first; i < first + nr; i++)
		atomic_store(&fake.machine[i], machine);
}

/* The code of a request; its answer is the text *@out. */
static int ask(struct sley_pool *pool, struct sley_query query, char *out)
{
	size_t size = 0;
	int code = sley_pool_call(pool,
				  SLEY_REQUEST(.query = query, .out = out,
					       .out_size = MOST),
				  &size);

	out[size] = '\0';
	return code;
}

static void check_word(struct sley_pool *pool, struct sley_query query,
		       const char *word)
{
	char out[MOST + 1];

	CHECK_EQ(ask(pool, query, out), 0);
	CHECK_STR(out, word);
}

/* For tasks: until the fake has @nr parcels. */
static void await_sent(int nr)
{
	while (atomic_load(&fake.nr_sent) < nr)
		sley_yield();
}

/* A request that is out, or too late for that, in memory of its own. */
struct out {
	struct sley_request request;
	char word[4];
};

static struct out *send_out(struct sley_pool *pool, struct sley_query query,
			    uint64_t deadline_ns)
{
	struct out *out = calloc(1, sizeof(*out));
	int before = atomic_load(&fake.nr_sent);

	CHECK(out != NULL);
	CHECK_EQ(sley_submit(pool, &out->request,
			     SLEY_REQUEST(.query = query, .out = out->word,
					  .out_size = sizeof(out->word),
					  .deadline_ns = deadline_ns)),
		 0);
	while (atomic_load(&fake.nr_sent) == before &&
	       !sley_request_is_done(&out->request))
		sley_yield();
	return out;
}

/* Its code; its memory is gone. */
static int end_out(struct out *out)
{
	int code;

	CHECK_EQ(sley_request_wait(&out->request), 0);
	code = sley_request_code(&out->request);
	free(out);
	return code;
}

/* Answers the last parcel, which no request waits for. */
static void answer_in_vain(void)
{
	uint64_t before = neighbour_nr_strays(fake.router);

	CHECK_EQ(answer(&fake.sent[fake.nr_sent - 1]), -ESTALE);
	CHECK_EQ(neighbour_nr_strays(fake.router), before + 1);
}

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

/* ---- time ----------------------------------------------------------------------------- */

TEST_WORKERS(c15_a_query_without_patience_tries_once)
{
	struct scene scene = scene_start(1, UNREACHABLE);
	struct sley_query query = sley_query_physical(3);
	char out[MOST + 1];
	uint64_t from_ns = sley_now();

	CHECK_EQ(ask(scene.pool, sley_query_within(query, 0), out),
		 -EHOSTUNREACH);
	CHECK_EQ(atomic_load(&fake.nr_sent), 1);
	CHECK_EQ(ask(scene.pool, sley_query_within(query, 20), out),
		 -EHOSTUNREACH);
	CHECK_GE(sley_now(), from_ns + 20 * SLEY_MSEC);
	/* The deadline of the request comes first. */
	CHECK_EQ(sley_pool_call(
			 scene.pool,
			 SLEY_REQUEST(.query = sley_query_within(query, 60000),
				      .deadline_ns = in_ms(20)),
			 NULL),
		 -ETIMEDOUT);
	atomic_store(&fake.mood, REFUSES);
	CHECK_EQ(ask(scene.pool, query, out), -E2BIG);
	scene_stop(&scene);
}

static void wait_for_a_machine(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(3), 0);

	neighbour_changed(scene->router); /* not for the better */
	await_sent(2);
	CHECK_EQ(sley_request_code(&out->request), -EINPROGRESS);
	atomic_store(&fake.mood, ANSWERS);
	neighbour_changed(scene->router);
	CHECK_EQ(end_out(out), 0);
	CHECK_EQ(atomic_load(&fake.nr_sent), 3);
	/* A ticket is good for one try. */
	CHECK_EQ(answer(&fake.sent[0]), -ESTALE);
}

TEST_WORKERS(c15_a_query_waits_for_its_machine_without_limit)
{
	struct scene scene = scene_start(1, UNREACHABLE);

	run_task(wait_for_a_machine, &scene);
	scene_stop(&scene);
}

static void miss_the_deadline(void *arg)
{
	struct scene *scene = arg;
	struct out *out;

	/* On a busy machine the deadline may pass before anything is sent. */
	for (unsigned int ms = 10; !atomic_load(&fake.nr_sent); ms *= 2) {
		uint64_t deadline_ns = in_ms(ms);

		out = send_out(scene->pool, sley_query_physical(1),
			       deadline_ns);
		CHECK_EQ(end_out(out), -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline_ns);
	}
	CHECK_EQ(atomic_load(&fake.nr_dropped), 1);
	CHECK_EQ(fake.dropped.generation, fake.sent[0].ticket.generation);
	answer_in_vain();
	/* The next request has the same place, and another ticket. */
	out = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(fake.sent[1].ticket.place, fake.sent[0].ticket.place);
	CHECK_EQ(answer(&fake.sent[0]), -ESTALE);
	CHECK_EQ(sley_request_code(&out->request), -EINPROGRESS);
	CHECK_EQ(answer(&fake.sent[1]), 0);
	CHECK_EQ(end_out(out), 0);
}

TEST_WORKERS(c24_an_answer_after_the_deadline_touches_nothing)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(miss_the_deadline, &scene);
	/* A deadline that has passed: nothing is sent. */
	CHECK_EQ(sley_pool_call(scene.pool,
				SLEY_REQUEST(.query = sley_query_physical(1),
					     .deadline_ns = 1),
				NULL),
		 -ETIMEDOUT);
	CHECK_EQ(atomic_load(&fake.nr_sent), 2);
	scene_stop(&scene);
}

static void answer_twice(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);
	struct ticket none = fake.sent[0].ticket;

	none.place = 77;
	CHECK_EQ(neighbour_answer(scene->router, none, 0, NULL, 0), -ESTALE);
	CHECK_EQ(neighbour_answer(scene->router, fake.sent[0].ticket, -EIO,
				  "no", 2),
		 0);
	answer_in_vain();
	CHECK_EQ(end_out(out), -EIO);
	answer_in_vain();
	CHECK_EQ(neighbour_nr_strays(scene->router), 3);
	out = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(neighbour_answer(scene->router, fake.sent[1].ticket, 0,
				  "too long", 8),
		 0);
	CHECK_EQ(end_out(out), -EMSGSIZE);
}

TEST_WORKERS(c24_a_second_answer_is_refused_and_counted)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(answer_twice, &scene);
	scene_stop(&scene);
}

static void cancel_one_that_is_out(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);

	sley_request_cancel(&out->request);
	CHECK_EQ(end_out(out), -ECANCELED);
	answer_in_vain();
	atomic_store(&fake.mood, UNREACHABLE);
	out = send_out(scene->pool, sley_query_physical(1), 0);
	sley_request_cancel(&out->request);
	CHECK_EQ(end_out(out), -ECANCELED);
	CHECK_EQ(atomic_load(&fake.nr_dropped), 1);
}

TEST_WORKERS(c24_a_request_that_is_out_can_be_cancelled)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(cancel_one_that_is_out, &scene);
	scene_stop(&scene);
}

/* ---- answers that are dropped -------------------------------------------------------- */

static void drop_many(void *arg)
{
	struct scene *scene = arg;
	struct out *first = send_out(scene->pool, sley_query_physical(1), 0),
		   *next;
	struct ticket old = fake.sent[0].ticket;
	uint64_t bytes;

	CHECK_EQ(answer(&fake.sent[0]), 0);
	CHECK_EQ(end_out(first), 0);
	next = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(fake.sent[1].ticket.place, old.place);
	bytes = mem_allocated(&scene->rt->mem);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(neighbour_answer(scene->router, old, 0, "old", 3),
			 -ESTALE);
	/* Counted, not kept, and not for the next request. */
	CHECK_EQ(neighbour_nr_strays(scene->router), 1000);
	CHECK_EQ(mem_allocated(&scene->rt->mem), bytes);
	CHECK_EQ(sley_request_code(&next->request), -EINPROGRESS);
	CHECK_EQ(answer(&fake.sent[1]), 0);
	CHECK_EQ(end_out(next), 0);
}

TEST_WORKERS(c53_an_answer_that_no_request_waits_for_is_dropped_at_once)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(drop_many, &scene);
	scene_stop(&scene);
}

/* ---- the end --------------------------------------------------------------------------- */

static void end_pool(void *arg)
{
	struct scene *scene = arg;
	struct out *out = send_out(scene->pool, sley_query_physical(1), 0);
	struct out *waits, *parts;

	parts = send_out(scene->pool, sley_query_broadcast(), 0);
	atomic_store(&fake.mood, UNREACHABLE);
	waits = send_out(scene->pool, sley_query_physical(1), 0);
	CHECK_EQ(sley_pool_destroy(scene->pool), 0);
	CHECK_EQ(end_out(out), -ENOENT);
	CHECK_EQ(end_out(parts), -ENOENT);
	CHECK_EQ(end_out(waits), -ENOENT);
	answer_in_vain();
	CHECK_EQ(sley_pool_call(scene->pool,
				SLEY_REQUEST(.query = sley_query_physical(1)),
				NULL),
		 -ENOENT);
}

TEST_WORKERS(rc14_a_pool_that_ends_does_not_wait_for_other_machines)
{
	struct scene scene = scene_start(2, KEEPS);

	move(1, 1, 1);
	run_task(end_pool, &scene);
	scene_stop(&scene);
}

static void forget(void *arg)
{
	struct scene *scene = arg;

	CHECK_EQ(sley_submit_and_forget(
			 scene->pool,
			 SLEY_REQUEST(.query = sley_query_physical(1),
				      .in = "key", .in_size = 3)),
		 0);
	await_sent(1);
	CHECK_EQ(sley_pool_flush_until(scene->pool, in_ms(5)), -ETIMEDOUT);
}

TEST_WORKERS(rc14_a_router_ends_with_a_request_that_is_out)
{
	struct scene scene = scene_start(1, KEEPS);

	run_task(forget, &scene);
	sley_pool_close(scene.pool);
	CHECK_EQ(sley_router_destroy(scene.router), 0);
	CHECK_EQ(atomic_load(&fake.nr_stopped), 1);
	stop(scene.rt);
}

TEST_WORKERS(a_runtime_that_is_cancelled_waits_for_no_machine)
{
	struct scene scene = scene_start(1, KEEPS);
	struct sley_request request;

	CHECK_EQ(sley_submit(scene.pool, &request,
			     SLEY_REQUEST(.query = sley_query_physical(1))),
		 0);
	sley_cancel_all(scene.rt);
	CHECK_EQ(sley_request_wait(&request), 0);
	CHECK_EQ(sley_request_code(&request), -ECANCELED);
	scene_stop(&scene);
}

/* ---- a race ---------------------------------------------------------------------------- */

static atomic_bool is_over;

/* A plain thread answers each parcel, twice, at about the time of its deadline. */
static void *answer_all(void *arg)
{
	int nr = 0;

	(void)arg;
	while (!atomic_load(&is_over) || nr < atomic_load(&fake.nr_sent)) {
		if (nr == atomic_load(&fake.nr_sent)) {
			sched_yield();
			continue;
		}
		(void)!answer(&fake.sent[nr]);
		CHECK_EQ(answer(&fake.sent[nr]), -ESTALE);
		nr++;
	}
	return NULL;
}

static void race_with_deadlines(void *arg)
{
	struct scene *scene = arg;

	for (unsigned int i = 0; i < MOST; i++) {
		struct out *out = calloc(1, sizeof(*out));
		int code;

		CHECK(out != NULL);
		CHECK_EQ(sley_submit(
				 scene->pool, &out->request,
				 SLEY_REQUEST(.query = sley_query_id(0),
					      .out = out->word, .out_size = 4,
					      .deadline_ns = sley_now() +
							     i % 16 * 10000)),
			 0);
		code = end_out(out);
		CHECK(code == 0 || code == -ETIMEDOUT);
	}
}

TEST_WORKERS(c24_answers_and_deadlines_that_come_together)
{
	struct scene scene = scene_start(1, KEEPS);
	pthread_t thread;

	move(0, 1, 1);
	atomic_store(&is_over, false);
	CHECK_EQ(pthread_create(&thread, NULL, answer_all, NULL), 0);
	run_task(race_with_deadlines, &scene);
	atomic_store(&is_over, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	scene_stop(&scene);
}
