/* SPDX-License-Identifier: MIT */
/*
 * fake_neighbour.c - see fake_neighbour.h.
 */
#include "conformance/route/fake_neighbour.h"

struct fake fake;

/* ---- the fake ----------------------------------------------------------------------- */

static uint64_t owner(void *self, const char *pool, uint32_t container)
{
	CHECK(self == &fake);
	CHECK_STR(pool, "p");
	return (uint64_t)atomic_load(&fake.machine[container]);
}

/* As the other machine would answer. */
int answer(const struct parcel *parcel)
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
	sley_mutex_lock(&fake.lock);
	fake.dropped = ticket;
	sley_mutex_unlock(&fake.lock);
	atomic_fetch_add(&fake.nr_dropped, 1);
}

static void stop_sending(void *self)
{
	CHECK(self == &fake);
	atomic_fetch_add(&fake.nr_stopped, 1);
}

const struct neighbour_ops fake_ops = {
	.owner = owner,
	.send = send,
	.drop = drop,
	.stop = stop_sending,
};

/* ---- the module --------------------------------------------------------------------- */

atomic_int nr_ran, nr_scheduled;
struct sley_query scheduled;

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

const struct sley_module letters = {
	SLEY_MODULE_HEAD("letters"),
	.methods = methods,
	.nr_methods = 1,
	.create = create,
	.schedule = schedule,
};

/* ---- the scene ---------------------------------------------------------------------- */

/* A pool of @nr containers, all of them here. */
struct scene scene_start(uint32_t nr, enum mood mood)
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

void scene_stop(struct scene *scene)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	CHECK_EQ(sley_router_get_stats(scene->router, &stats), 0);
	CHECK_EQ(stats.submitted, stats.completed);
	sley_pool_close(scene->pool);
	CHECK_EQ(sley_router_destroy(scene->router), 0);
	CHECK_EQ(atomic_load(&fake.nr_stopped), 1);
	stop(scene->rt);
}

void move(uint32_t first, uint32_t nr, int machine)
{
	for (uint32_t i = first; i < first + nr; i++)
		atomic_store(&fake.machine[i], machine);
}

/* The code of a request; its answer is the text *@out. */
int ask(struct sley_pool *pool, struct sley_query query, char *out)
{
	size_t size = 0;
	int code = sley_pool_call(pool,
				  SLEY_REQUEST(.query = query, .out = out,
					       .out_size = MOST),
				  &size);

	out[size] = '\0';
	return code;
}

void check_word(struct sley_pool *pool, struct sley_query query,
		const char *word)
{
	char out[MOST + 1];

	CHECK_EQ(ask(pool, query, out), 0);
	CHECK_STR(out, word);
}

/* For tasks: until the fake has @nr parcels. */
void await_sent(int nr)
{
	while (atomic_load(&fake.nr_sent) < nr)
		sley_yield();
}

struct out *send_out(struct sley_pool *pool, struct sley_query query,
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
int end_out(struct out *out)
{
	int code;

	CHECK_EQ(sley_request_wait(&out->request), 0);
	code = sley_request_code(&out->request);
	free(out);
	return code;
}

/* Answers the last parcel, which no request waits for. */
void answer_in_vain(void)
{
	uint64_t before = neighbour_nr_strays(fake.router);

	CHECK_EQ(answer(&fake.sent[fake.nr_sent - 1]), -ESTALE);
	CHECK_EQ(neighbour_nr_strays(fake.router), before + 1);
}
