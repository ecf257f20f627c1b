/* SPDX-License-Identifier: MIT */
/*
 * ipc_scene.c - see ipc_scene.h.
 */
#include "stress/ipc_scene.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sley/client.h>
#include <sley/error.h>
#include <sley/module.h>
#include <sley/server.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOK_NS 200000
#define DEPTH 32                            /* of a ring              */
#define TASKS_MAX (2 * IPC_CLIENTS * DEPTH) /* at a time, with room   */

/* ---- the method ------------------------------------------------------------------------ */

static struct ipc_page *page;

static struct ipc_record *record_of(uint32_t place, uint64_t serial)
{
	return &page->clients[place].records[serial % IPC_RECORDS];
}

static int run(void *self, struct sley_request *request)
{
	struct ipc_record *record;
	struct ipc_task task;
	size_t size;
	const void *in = sley_request_in(request, &size);
	int err = 0;

	(void)self;
	if (size != sizeof(task))
		return -EBADMSG;
	memcpy(&task, in, size);
	if (task.place >= IPC_CLIENTS)
		return -EBADMSG;
	record = record_of(task.place, task.serial);
	if (atomic_load(&record->serial) != task.serial)
		atomic_fetch_add(&page->nr_stale, 1);
	else if (atomic_fetch_add(&record->nr_run, 1) && !record->idempotent)
		atomic_fetch_add(&page->nr_twice, 1);
	atomic_fetch_add(&page->nr_run, 1);
	if (task.sleep_ns)
		err = sley_sleep(task.sleep_ns);
	return err ? err
		   : sley_request_answer(request, &task.serial,
					 sizeof(task.serial));
}

static const struct sley_method methods[] = {
	{ .name = "run", .run = run },
	{ .name = "short", .run = run, .flags = SLEY_METHOD_SHORT },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("work"),
	.version = 1,
	.methods = methods,
	.nr_methods = 2,
};

/* ---- the daemon ------------------------------------------------------------------------ */

/* Of kinds that a client brings: a worker may open a ring of the kernel at any time. */
static uint32_t count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	uint32_t nr = 0;

	CHECK(folder);
	while ((entry = readdir(folder))) {
		char to[64] = "";

		if (readlinkat(dirfd(folder), entry->d_name, to,
			       sizeof(to) - 1) > 0)
			nr += strstr(to, "socket:") || strstr(to, "pidfd") ||
			      strstr(to, "eventfd") || strstr(to, "memfd:");
	}
	closedir(folder);
	return nr;
}

/* Shared memory of clients: rings and segments. */
static uint32_t count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	uint32_t nr = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, "memfd:sley") != NULL;
	fclose(maps);
	return nr;
}

/* Both are slow: only while nobody is there. */
static void look(const struct sley *rt, struct sley_server *server)
{
	struct sley_server_stats stats = { .size = sizeof(stats) };
	struct sley_stats all;

	CHECK_EQ(sley_server_inspect(server, &stats), 0);
	if (!stats.nr_clients) {
		atomic_store(&page->nr_fds, count_fds());
		atomic_store(&page->nr_maps, count_maps());
		sley_get_stats(rt, &all);
		atomic_store(&page->nr_bytes, all.allocated);
	}
	atomic_store(&page->nr_in_flight, (uint32_t)stats.nr_in_flight);
	atomic_store(&page->nr_ejected, (uint32_t)stats.nr_ejected);
	atomic_store(&page->nr_sessions, stats.nr_clients);
	atomic_fetch_add(&page->nr_looks, 1);
}

static void look_until_term(const struct sley *rt, struct sley_server *server)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	while (sigtimedwait(&term, NULL, &pause) != SIGTERM)
		look(rt, server);
}

static void ignore_line(void *self, const char *line)
{
	(void)self;
	if (getenv("IPC_SAYS"))
		fprintf(stderr, "%s\n", line);
}

struct warm_up {
	struct sley_event event;
	atomic_uint nr_begun, nr_ended;
};

static void wait_for_all(void *arg)
{
	struct warm_up *shared = arg;

	atomic_fetch_add(&shared->nr_begun, 1);
	CHECK_EQ(sley_event_wait(&shared->event), 0);
	atomic_fetch_add(&shared->nr_ended, 1);
}

/*
 * More tasks that wait at a time than clients can cause: the runtime keeps its bookkeeping
 * of tasks and fibers, so from now on more bytes are a leak.
 */
static void warm_up(struct sley *rt)
{
	static struct warm_up shared = { .event = SLEY_EVENT_INIT };

	for (uint32_t i = 0; i < TASKS_MAX; i++)
		CHECK_EQ(sley_schedule_on(rt, wait_for_all, &shared, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&shared.nr_begun) == TASKS_MAX);
	sley_event_set(&shared.event);
	CHECK_EVENTUALLY(atomic_load(&shared.nr_ended) == TASKS_MAX);
}

static void be_daemon(void *arg)
{
	const struct ipc_scene *scene = arg;
	struct sley_router *router = NULL;
	struct sley_server *server = NULL;
	struct sley_pool *pool = NULL;
	struct sley *rt = NULL;

	CHECK_EQ(sley_create(&rt,
			     SLEY_CONFIG(.workers = 2, .report = ignore_line)),
		 0);
	CHECK_EQ(sley_router_create(rt, &router, NULL), 0);
	CHECK_EQ(sley_router_add(router, &module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "work",
				SLEY_POOL_OPTIONS(.module = "work",
						  .containers = 2)),
		 0);
	CHECK_EQ(sley_server_create(router, &server,
				    SLEY_SERVER_OPTIONS(.socket = scene->path)),
		 0);
	warm_up(rt);
	look(rt, server);
	CHECK_EQ(write(scene->ready, "r", 1), 1);
	close(scene->ready);
	look_until_term(rt, server);
	(void)!sley_server_stop_until(server, sley_after(5 * SLEY_SEC));
	sley_server_destroy(server);
	sley_pool_close(pool);
	CHECK_EQ(sley_router_destroy(router), 0);
	CHECK_EQ(sley_destroy(rt), 0);
}

void ipc_start_daemon(struct ipc_scene *scene)
{
	int ready[2];
	sigset_t term;
	char byte;

	CHECK_EQ(pipe(ready), 0);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	scene->ready = ready[1];
	scene->daemon = cast_fork(be_daemon, scene);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

void ipc_kill_daemon(struct ipc_scene *scene)
{
	cast_kill(scene->daemon);
	scene->daemon = 0;
}

void ipc_stop_daemon(struct ipc_scene *scene)
{
	kill(scene->daemon, SIGTERM);
	cast_reap(scene->daemon, 0);
	scene->daemon = 0;
}

void ipc_await_look(struct ipc_scene *scene)
{
	uint64_t seen = atomic_load(&scene->page->nr_looks);

	/* One that begins after this call. */
	CHECK_EVENTUALLY(atomic_load(&scene->page->nr_looks) > seen + 1);
}

/* ---- a client -------------------------------------------------------------------------- */

struct window {
	struct sley_pool *pool;
	uint32_t place;
	uint64_t serial;
	bool is_last;
	struct {
		struct sley_request request;
		struct ipc_task task;
		uint64_t answer;
		bool busy;
	} items[IPC_WINDOW];
};

static struct ipc_record *begin_record(struct window *window,
				       struct ipc_task *task)
{
	struct ipc_record *record;

	*task = (struct ipc_task){
		.serial = ++window->serial,
		.place = window->place,
		.sleep_ns = test_random(4) ? 0 : (uint32_t)test_random(300000),
	};
	record = record_of(window->place, task->serial);
	if (atomic_load(&record->acked) && !atomic_load(&record->ended) &&
	    !record->forgotten) {
		window->serial--;
		return NULL;
	}
	atomic_store(&page->clients[window->place].last,
		     (uint32_t)task->serial);
	atomic_store(&record->acked, 0);
	atomic_store(&record->ended, 0);
	atomic_store(&record->nr_run, 0);
	record->idempotent = test_random(3) == 0;
	record->forgotten = !window->is_last && test_random(8) == 0;
	atomic_store(&record->serial, task->serial);
	return record;
}

static int send(struct window *window, uint32_t i,
		const struct ipc_record *record)
{
	struct ipc_task *task = &window->items[i].task;
	struct sley_request_spec spec =
		*SLEY_REQUEST(.method = (uint32_t)test_random(2), .in = task,
			      .in_size = sizeof(*task),
			      .idempotent = record->idempotent);

	if (record->forgotten)
		return sley_submit_and_forget(window->pool, &spec);
	spec.out = &window->items[i].answer;
	spec.out_size = sizeof(window->items[i].answer);
	return sley_submit(window->pool, &window->items[i].request, &spec);
}

/* False: there is no room. */
static bool submit(struct window *window, uint32_t i)
{
	struct ipc_client *client = &page->clients[window->place];
	struct ipc_record *record =
		begin_record(window, &window->items[i].task);
	int err = record ? send(window, i, record) : -EBUSY;

	if (err == -EAGAIN)
		window->serial--;
	if (err == -EAGAIN || err == -EBUSY)
		return false;
	CHECK_EQ(err, 0);
	atomic_store(&record->acked, 1);
	atomic_fetch_add(&client->nr_acked, 1);
	if (record->forgotten)
		atomic_fetch_add(&client->nr_forgotten, 1);
	window->items[i].busy = !record->forgotten;
	return true;
}

static void check_record(struct ipc_record *record, int code)
{
	uint32_t nr = atomic_load(&record->nr_run);

	CHECK_EQ(atomic_fetch_add(&record->ended, 1), 0);
	record->code = code;
	if (code == 0) {
		CHECK_GE(nr, 1);
		CHECK(record->idempotent || nr == 1);
		return;
	}
	CHECK_EQ(code, SLEY_EUNKNOWN);
	CHECK(!record->idempotent);
	CHECK_LE(nr, 1);
}

static void complete(struct window *window, uint32_t i)
{
	struct ipc_client *client = &page->clients[window->place];
	uint64_t serial = window->items[i].task.serial;
	int code = sley_request_code(&window->items[i].request);

	check_record(record_of(window->place, serial), code);
	if (code == 0)
		CHECK_EQ(window->items[i].answer, serial);
	else
		atomic_fetch_add(&client->nr_unknown, 1);
	atomic_fetch_add(&client->nr_ended, 1);
	window->items[i].busy = false;
}

static void turn(struct window *window)
{
	bool submits = !atomic_load(&page->stop);
	struct sley_request *waits[IPC_WINDOW];
	size_t nr = 0;

	for (uint32_t i = 0; i < IPC_WINDOW; i++) {
		if (!window->items[i].busy && submits)
			submits = submit(window, i);
		if (window->items[i].busy)
			waits[nr++] = &window->items[i].request;
	}
	if (nr)
		(void)!sley_request_wait_any_until(waits, nr,
						   sley_after(10 * SLEY_MSEC));
	for (uint32_t i = 0; i < IPC_WINDOW; i++) {
		if (window->items[i].busy &&
		    sley_request_is_done(&window->items[i].request))
			complete(window, i);
	}
}

static bool is_empty(const struct window *window)
{
	for (uint32_t i = 0; i < IPC_WINDOW; i++) {
		if (window->items[i].busy)
			return false;
	}
	return true;
}

static struct sley_client *connect_to(const struct ipc_scene *scene,
				      struct sley_pool **pool)
{
	struct sley_client *client = NULL;

	CHECK_EQ(sley_client_open(
			 &client,
			 SLEY_CLIENT_OPTIONS(.socket = scene->path,
					     .depth = DEPTH, .slot_size = 256,
					     .connect_ns = 20 * SLEY_SEC,
					     .report = ignore_line)),
		 0);
	CHECK_EQ(sley_client_pool_open(client, pool, "work", NULL), 0);
	return client;
}

/*
 * What a process has of its peer.  A client checks its own: whatever happened to the
 * daemon, it has no more than with the first one.
 */
struct holdings {
	uint32_t nr_fds, nr_maps;
};

static struct holdings count_holdings(void)
{
	return (struct holdings){ count_fds(), count_maps() };
}

static void check_holdings(struct holdings want)
{
	struct holdings now = count_holdings();

	CHECK_EQ(now.nr_fds, want.nr_fds);
	CHECK_EQ(now.nr_maps, want.nr_maps);
}

static void be_client(void *arg)
{
	static struct window window;
	const struct ipc_scene *scene = arg;
	struct holdings alone = count_holdings(), connected;
	struct sley_client *client = connect_to(scene, &window.pool);

	connected = count_holdings();
	window.place = scene->place;
	window.serial = scene->epochs[scene->place] << 32 |
			atomic_load(&page->clients[scene->place].last);
	while (!atomic_load(&page->stop) || !is_empty(&window))
		turn(&window);
	/* Taken in order: what was forgotten has begun when this one ends. */
	window.is_last = true;
	while (!submit(&window, 0))
		turn(&window);
	while (!is_empty(&window))
		turn(&window);
	check_holdings(connected);
	sley_pool_close(window.pool);
	CHECK_EQ(sley_client_close(client), 0);
	check_holdings(alone);
}

void ipc_start_client(struct ipc_scene *scene, uint32_t place)
{
	scene->epochs[place]++;
	memset(scene->page->clients[place].records, 0,
	       sizeof(scene->page->clients[place].records));
	scene->place = place;
	scene->clients[place] = cast_fork(be_client, scene);
}

void ipc_kill_client(struct ipc_scene *scene, uint32_t place)
{
	cast_kill(scene->clients[place]);
	scene->clients[place] = 0;
}

void ipc_finish_clients(struct ipc_scene *scene)
{
	atomic_store(&scene->page->stop, true);
	for (uint32_t i = 0; i < IPC_CLIENTS; i++) {
		if (scene->clients[i])
			cast_reap(scene->clients[i], 0);
		scene->clients[i] = 0;
	}
	atomic_store(&scene->page->stop, false);
}

/* ---- a client that measures ---------------------------------------------------------- */

void ipc_measured_client(void *arg)
{
	const struct ipc_scene *scene = arg;
	struct sley_pool *pool = NULL;
	struct sley_client *client = connect_to(scene, &pool);
	struct ipc_task task = { .place = IPC_CLIENTS - 1 };
	uint64_t answer, begin_ns;
	uint32_t nr = 0;

	while (!atomic_load(&page->stop)) {
		task.serial++;
		begin_ns = sley_now();
		CHECK_EQ(
			sley_pool_call(pool,
				       SLEY_REQUEST(.method = 1, .in = &task,
						    .in_size = sizeof(task),
						    .out = &answer,
						    .out_size = sizeof(answer)),
				       NULL),
			0);
		CHECK_EQ(answer, task.serial);
		atomic_store(&page->samples_ns[nr % IPC_SAMPLES],
			     sley_now() - begin_ns);
		nr++;
		atomic_store(&page->nr_samples, nr);
	}
	sley_pool_close(pool);
	CHECK_EQ(sley_client_close(client), 0);
}

/* ---- the stage ------------------------------------------------------------------------- */

/*
 * One worker may keep objects that the other one then has to get anew: a slab more for each
 * worker and size, however many clients there were.
 */
#define SLABS_SPARE (2 * 2 * 4096u)

void ipc_check_nothing_is_left(struct ipc_scene *scene)
{
	const struct ipc_page *now = scene->page;

	ipc_await_look(scene);
	CHECK_EVENTUALLY(atomic_load(&now->nr_sessions) == 0);
	CHECK_EVENTUALLY(atomic_load(&now->nr_in_flight) == 0);
	/* A client that was killed in the handshake is no session. */
	CHECK_EVENTUALLY(atomic_load(&now->nr_fds) == scene->nr_fds);
	CHECK_EVENTUALLY(atomic_load(&now->nr_maps) == scene->nr_maps);
	/* Chaos gets memory for one task at a time. */
	if (!test_is_chaotic())
		CHECK_EVENTUALLY(atomic_load(&now->nr_bytes) <=
				 scene->nr_bytes + SLABS_SPARE);
}

void ipc_begin(struct ipc_scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	page = cast_share(sizeof(*page));
	scene->page = page;
	(void)snprintf(scene->folder, sizeof(scene->folder),
		       "/tmp/sley-scene-XXXXXX");
	CHECK(mkdtemp(scene->folder));
	(void)snprintf(scene->path, sizeof(scene->path), "%s/s", scene->folder);
	ipc_start_daemon(scene);
	scene->nr_fds = atomic_load(&page->nr_fds);
	scene->nr_maps = atomic_load(&page->nr_maps);
	scene->nr_bytes = atomic_load(&page->nr_bytes);
}

void ipc_check(const struct ipc_scene *scene)
{
	CHECK_EQ(atomic_load(&scene->page->nr_stale), 0);
	CHECK_EQ(atomic_load(&scene->page->nr_twice), 0);
}

void ipc_end(struct ipc_scene *scene)
{
	char lock[96];

	ipc_check(scene);
	if (scene->daemon)
		ipc_stop_daemon(scene);
	(void)snprintf(lock, sizeof(lock), "%s.lock", scene->path);
	unlink(lock);
	CHECK_EQ(rmdir(scene->folder), 0);
	munmap(page, sizeof(*page));
}
