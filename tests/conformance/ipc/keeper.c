/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - see keeper.h.
 */
#include "conformance/ipc/keeper.h"

#include <signal.h>
#include <sley/admin.h>
#include <sley/kv.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the module ----------------------------------------------------------------------- */

static struct keeper_page *page;

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	return sley_request_answer(request, in, size);
}

static int item_of(struct sley_request *request, uint32_t *item)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	if (size != sizeof(*item))
		return -EBADMSG;
	memcpy(item, in, size);
	return *item < KEEPER_ITEMS ? 0 : -EBADMSG;
}

static int count(void *self, struct sley_request *request)
{
	uint32_t item;
	int err = item_of(request, &item);

	(void)self;
	if (err)
		return err;
	atomic_fetch_add(&page->begun[item], 1);
	atomic_fetch_add(&page->ended[item], 1);
	return 0;
}

static int hold(void *self, struct sley_request *request)
{
	uint32_t item;
	int err = item_of(request, &item);

	(void)self;
	if (err)
		return err;
	atomic_fetch_add(&page->begun[item], 1);
	while (!atomic_load(&page->open)) {
		err = sley_sleep(500000);
		if (err) {
			atomic_fetch_add(&page->cancelled, 1);
			return err;
		}
	}
	atomic_fetch_add(&page->ended[item], 1);
	return 0;
}

static int fail(void *self, struct sley_request *request)
{
	size_t size;
	const int *code = sley_request_in(request, &size);

	(void)self;
	return size == sizeof(*code) ? *code : -EBADMSG;
}

static int fill(void *self, struct sley_request *request)
{
	size_t in_size, out_size;
	const unsigned char *in = sley_request_in(request, &in_size);
	unsigned char *out = sley_request_out(request, &out_size);

	(void)self;
	if (in_size && memcmp(in, in + 1, in_size - 1) != 0)
		return -EBADMSG;
	if (out_size)
		memset(out, in_size ? in[0] : 0, out_size);
	return sley_request_answer(request, out, out_size);
}

static const struct sley_method methods[NR_WORKS] = {
	[WORK_ECHO] = { .name = "echo", .run = echo },
	[WORK_COUNT] = { .name = "count", .run = count },
	[WORK_HOLD] = { .name = "hold", .run = hold },
	[WORK_FAIL] = { .name = "fail", .run = fail },
	[WORK_FILL] = { .name = "fill", .run = fill },
	[WORK_SHORT] = { .name = "short",
			 .run = echo,
			 .flags = SLEY_METHOD_SHORT },
};

const struct sley_module work_module = {
	SLEY_MODULE_HEAD("work"),
	.version = 1,
	.methods = methods,
	.nr_methods = NR_WORKS,
};

static int upgrade(void **self, uint32_t from,
		   const struct sley_container_info *info)
{
	(void)self, (void)info;
	return from == 1 ? 0 : -EPROTO;
}

/* For the pool "work", which is there first. */
static const struct sley_module newer_module = {
	SLEY_MODULE_HEAD("work"), .version = 2,       .methods = methods,
	.nr_methods = NR_WORKS,   .upgrade = upgrade,
};

/* ---- a daemon ------------------------------------------------------------------------- */

static const struct sley_module *lesson; /* or NULL */
static int nr_workers = 2;

void keepers_learn(const struct sley_module *module)
{
	lesson = module;
}

void keepers_have_workers(int workers)
{
	nr_workers = workers;
}

static void ignore_line(void *self, const char *line)
{
	(void)self;
	if (getenv("KEEPER_SAYS"))
		fprintf(stderr, "daemon: %s\n", line);
}

static void open_pools(struct sley_router *router, struct sley_pool **pools)
{
	CHECK_EQ(sley_router_add(router, &work_module), 0);
	CHECK_EQ(sley_router_add(router, &sley_kv_module), 0);
	CHECK_EQ(sley_router_add(router, &sley_admin_module), 0);
	CHECK_EQ(sley_pool_open(router, &pools[0], "work",
				SLEY_POOL_OPTIONS(.module = "work",
						  .containers = 2)),
		 0);
	CHECK_EQ(sley_pool_open(router, &pools[1], "admin",
				SLEY_POOL_OPTIONS(.module = "admin")),
		 0);
	CHECK_EQ(sley_router_add(router, &newer_module), 0);
	if (!lesson)
		return;
	CHECK_EQ(sley_router_add(router, lesson), 0);
	CHECK_EQ(sley_pool_open(router, &pools[2], lesson->name,
				SLEY_POOL_OPTIONS(.module = lesson->name)),
		 0);
}

static _Noreturn void be_daemon(const struct keeper *keeper, int ready)
{
	struct sley_pool *pools[3] = { NULL };
	struct sley_router *router = NULL;
	struct sley_server *server = NULL;
	struct sley *rt = NULL;
	sigset_t term;
	int signal;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	CHECK_EQ(sley_create(&rt, SLEY_CONFIG(.workers = nr_workers,
					      .report = ignore_line)),
		 0);
	CHECK_EQ(sley_router_create(rt, &router, NULL), 0);
	open_pools(router, pools);
	CHECK_EQ(sley_server_create(
			 router, &server,
			 SLEY_SERVER_OPTIONS(.socket = keeper->path,
					     .max_segment_bytes =
						     KEEPER_SEGMENTS)),
		 0);
	CHECK_EQ(write(ready, "r", 1), 1);
	CHECK_EQ(sigwait(&term, &signal), 0);
	(void)!sley_server_stop_until(server, sley_after(5 * SLEY_SEC));
	sley_server_destroy(server);
	for (int i = 0; i < 3; i++)
		sley_pool_close(pools[i]);
	CHECK_EQ(sley_router_destroy(router), 0);
	CHECK_EQ(sley_destroy(rt), 0);
	_exit(0);
}

/* ---- the keeper ----------------------------------------------------------------------- */

static int start_daemon(const struct keeper *keeper)
{
	int ready[2], pid;
	char byte;

	CHECK_EQ(pipe(ready), 0);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		close(ready[0]);
		close(keeper->commands);
		close(keeper->replies);
		be_daemon(keeper, ready[1]);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_daemon(int pid, int signal)
{
	int status = 0;

	if (pid <= 0)
		return;
	kill(pid, signal);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (signal == SIGTERM)
		CHECK_EQ(status, 0);
}

static _Noreturn void be_keeper(const struct keeper *keeper)
{
	int daemon = 0;
	char command;

	while (read(keeper->commands, &command, 1) == 1) {
		switch (command) {
		case 's':
			daemon = start_daemon(keeper);
			break;
		case 'k':
			end_daemon(daemon, SIGKILL);
			daemon = 0;
			break;
		case 't':
			end_daemon(daemon, SIGTERM);
			daemon = 0;
			break;
		case 'f':
			kill(daemon, SIGSTOP);
			/* Now no thread of it runs. */
			CHECK_EQ(waitpid(daemon, NULL, WUNTRACED), daemon);
			break;
		case 'c':
			kill(daemon, SIGCONT);
			break;
		default:
			_exit(1);
		}
		CHECK_EQ(write(keeper->replies, "d", 1), 1);
	}
	end_daemon(daemon, SIGKILL);
	_exit(0);
}

static void order(struct keeper *keeper, char command)
{
	char byte;

	CHECK_EQ(write(keeper->commands, &command, 1), 1);
	CHECK_EQ(read(keeper->replies, &byte, 1), 1);
}

void keeper_begin(struct keeper *keeper)
{
	int to[2], from[2];

	page = keeper->page = mmap(NULL, sizeof(*keeper->page),
				   PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(keeper->page != MAP_FAILED);
	snprintf(keeper->folder, sizeof(keeper->folder), "%s",
		 "/tmp/sley-client-XXXXXX");
	CHECK(mkdtemp(keeper->folder) != NULL);
	snprintf(keeper->path, sizeof(keeper->path), "%s/s", keeper->folder);
	CHECK_EQ(pipe(to), 0);
	CHECK_EQ(pipe(from), 0);
	keeper->pid = fork();
	CHECK_GE(keeper->pid, 0);
	if (!keeper->pid) {
		close(to[1]);
		close(from[0]);
		keeper->commands = to[0];
		keeper->replies = from[1];
		be_keeper(keeper);
	}
	close(to[0]);
	close(from[1]);
	keeper->commands = to[1];
	keeper->replies = from[0];
	keeper_start(keeper);
}

void keeper_end(struct keeper *keeper)
{
	char lock[96];
	int status;

	close(keeper->commands);
	close(keeper->replies);
	CHECK_EQ(waitpid(keeper->pid, &status, 0), keeper->pid);
	CHECK_EQ(status, 0);
	snprintf(lock, sizeof(lock), "%s.lock", keeper->path);
	unlink(lock);
	unlink(keeper->path);
	CHECK_EQ(rmdir(keeper->folder), 0);
	munmap(keeper->page, sizeof(*keeper->page));
}

void keeper_start(struct keeper *keeper)
{
	order(keeper, 's');
}

void keeper_kill(struct keeper *keeper)
{
	order(keeper, 'k');
}

void keeper_stop(struct keeper *keeper)
{
	order(keeper, 't');
}

void keeper_freeze(struct keeper *keeper)
{
	order(keeper, 'f');
}

void keeper_thaw(struct keeper *keeper)
{
	order(keeper, 'c');
}

/* ---- clients -------------------------------------------------------------------------- */

struct sley_client_options quiet_options(const struct keeper *keeper)
{
	return *SLEY_CLIENT_OPTIONS(.socket = keeper->path,
				    .report = ignore_line);
}

struct sley_client *client_with(const struct sley_client_options *options)
{
	struct sley_client *client = NULL;

	CHECK_EQ(sley_client_open(&client, options), 0);
	return client;
}

struct sley_client *client_open(const struct keeper *keeper)
{
	struct sley_client_options options = quiet_options(keeper);

	return client_with(&options);
}

struct sley_pool *work_pool(struct sley_client *client)
{
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_client_pool_open(client, &pool, "work", NULL), 0);
	return pool;
}

int work_echo(struct sley_pool *pool, uint64_t in)
{
	uint64_t out = 0;
	size_t size = 0;
	int code =
		sley_pool_call(pool,
			       SLEY_REQUEST(.method = WORK_ECHO, .in = &in,
					    .in_size = sizeof(in), .out = &out,
					    .out_size = sizeof(out)),
			       &size);

	if (!code) {
		CHECK_EQ(size, sizeof(out));
		CHECK(out == in);
	}
	return code;
}

void client_close(struct sley_client *client, struct sley_pool *pool)
{
	sley_pool_close(pool);
	CHECK_EQ(sley_client_close(client), 0);
}

struct sley_client_info client_info(struct sley_client *client)
{
	struct sley_client_info info = { .size = sizeof(info) };

	CHECK_EQ(sley_client_inspect(client, &info), 0);
	return info;
}

struct body {
	void (*body)(struct keeper *keeper);
	struct keeper *keeper;
};

static void run_body(void *arg)
{
	struct body *body = arg;

	body->body(body->keeper);
}

void keeper_run(void (*body)(struct keeper *keeper), bool as_task)
{
	struct keeper keeper;
	struct body all = { body, &keeper };

	keeper_begin(&keeper);
	if (as_task)
		CHECK_EQ(sley_run(test_config(), run_body, &all), 0);
	else
		body(&keeper);
	keeper_end(&keeper);
}
