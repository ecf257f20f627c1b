/* SPDX-License-Identifier: MIT */
/*
 * client_life.c - <sley/client.h>: clients are opened and closed, also after fork(); calls
 * that are not for pools of a daemon.
 */
#include "conformance/ipc/keeper.h"

#include <sley/pool_inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- opening --------------------------------------------------------------------------- */

static char heard[512];

static void hear(void *self, const char *line)
{
	CHECK(self == heard);
	snprintf(heard, sizeof(heard), "%s", line);
}

TEST(a_client_without_a_daemon_says_what_to_do)
{
	struct sley_client *client = NULL;
	uint64_t begin_ns = test_now_ns();

	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.socket = "/nowhere/s",
						      .report = hear,
						      .report_self = heard)),
		 -ENOENT);
	CHECK(strstr(heard, "/nowhere/s"));
	CHECK(strstr(heard, "sley daemon start"));
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.socket = "/nowhere/s",
						      .connect_ns =
							      30 * SLEY_MSEC,
						      .report = hear,
						      .report_self = heard)),
		 -ENOENT);
	CHECK_GE(test_now_ns() - begin_ns, 30 * SLEY_MSEC);
	setenv("SLEY_SOCKET", "/nowhere/env", 1);
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.report = hear,
						      .report_self = heard)),
		 -ENOENT);
	CHECK(strstr(heard, "/nowhere/env"));
}

TEST(options_of_a_client_are_checked)
{
	struct sley_client *client = NULL;
	struct sley_client_options none = { .size = 0 };
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = 0;
	CHECK_EQ(sley_client_open(&client, &none), -EINVAL);
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.reserved = { 1 })),
		 -E2BIG);
	CHECK_EQ(sley_client_open(&client, SLEY_CLIENT_OPTIONS(.depth = 65537)),
		 -EINVAL);
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.slot_size = 1u << 21)),
		 -EINVAL);
	CHECK_EQ(sley_client_open(&client,
				  SLEY_CLIENT_OPTIONS(.socket = path,
						      .report = hear,
						      .report_self = heard)),
		 -ENAMETOOLONG);
	CHECK(strstr(heard, "shorter"));
}

TEST(a_client_waits_for_a_daemon_that_starts_later)
{
	struct sley_client_options options;
	struct sley_client *client = NULL;
	struct keeper keeper;

	keeper_begin(&keeper);
	keeper_stop(&keeper);
	options = quiet_options(&keeper);
	CHECK_EQ(sley_client_open(&client, &options), -ENOENT);
	options.connect_ns = 20 * SLEY_SEC;
	if (fork() == 0) {
		keeper_start(&keeper);
		_exit(0);
	}
	CHECK_EQ(sley_client_open(&client, &options), 0);
	CHECK_EQ(client_info(client).state, SLEY_CLIENT_LIVE);
	CHECK_EQ(client_info(client).nr_connects, 1);
	CHECK_EQ(sley_client_close(client), 0);
	CHECK_GT(wait(NULL), 0);
	keeper_end(&keeper);
}

TEST(a_client_looks_in_the_folder_of_the_user_first)
{
	char folder[128], path[160];
	struct sley_client *client = NULL;
	struct keeper keeper;

	keeper_begin(&keeper);
	snprintf(folder, sizeof(folder), "%s/sley", keeper.folder);
	snprintf(path, sizeof(path), "%s/sleyd.sock", folder);
	CHECK_EQ(mkdir(folder, 0700), 0);
	CHECK_EQ(symlink(keeper.path, path), 0);
	unsetenv("SLEY_SOCKET");
	setenv("XDG_RUNTIME_DIR", keeper.folder, 1);
	CHECK_EQ(sley_client_open(&client, NULL), 0);
	CHECK_EQ(sley_client_close(client), 0);
	unlink(path);
	rmdir(folder);
	keeper_end(&keeper);
}

CLIENT_TEST(calls_that_are_for_pools_of_this_process_are_refused)
{
	struct sley_method_cost cost = { .size = sizeof(cost) };
	struct sley_pool_stats stats = { .size = sizeof(stats) };
	struct sley_container_stats inside = { .size = sizeof(inside) };
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request;
	char text[64];

	CHECK(!sley_pool_router(pool));
	CHECK_EQ(sley_pool_destroy(pool), -EOPNOTSUPP);
	CHECK_EQ(sley_pool_flush_until(pool, 0), -EOPNOTSUPP);
	CHECK_EQ(sley_container_drain_until(pool, 0, 0), -EOPNOTSUPP);
	CHECK_EQ(sley_container_open(pool, 0), -EOPNOTSUPP);
	CHECK_EQ(sley_container_upgrade(pool, 0, &work_module), -EOPNOTSUPP);
	CHECK_EQ(sley_container_upgrade_to(pool, 0, 1), -EOPNOTSUPP);
	CHECK_EQ(sley_container_get_cost(pool, 0, 0, 0, &cost), -EOPNOTSUPP);
	CHECK_EQ(sley_pool_inspect(pool, &stats), -EOPNOTSUPP);
	CHECK_EQ(sley_container_inspect(pool, 0, &inside), -EOPNOTSUPP);
	CHECK_EQ(sley_pool_inspect_json(pool, "pool_stats", text, 64),
		 -EOPNOTSUPP);
	CHECK_EQ(sley_submit(pool, &request,
			     SLEY_REQUEST(.period_ns = SLEY_SEC)),
		 -EOPNOTSUPP);
	CHECK_EQ(sley_submit(pool, &request, SLEY_REQUEST(.parent = &request)),
		 -EOPNOTSUPP);
	CHECK_EQ(work_echo(pool, 1), 0);
	client_close(client, pool);
}

/* ---- closing --------------------------------------------------------------------------- */

/* ---- thrown out ------------------------------------------------------------------------ */

/* A daemon in this process, with the pool "work". */
struct house {
	struct sley *rt;
	struct sley_router *router;
	struct sley_server *server;
	char folder[64], path[80];
};

static void house_begin(struct house *house)
{
	struct sley_pool *pool = NULL;

	snprintf(house->folder, sizeof(house->folder), "/tmp/sley-XXXXXX");
	CHECK(mkdtemp(house->folder));
	snprintf(house->path, sizeof(house->path), "%s/s", house->folder);
	CHECK_EQ(sley_create(&house->rt, SLEY_CONFIG(.workers = 2)), 0);
	CHECK_EQ(sley_router_create(house->rt, &house->router, NULL), 0);
	CHECK_EQ(sley_router_add(house->router, &work_module), 0);
	CHECK_EQ(sley_pool_open(house->router, &pool, "work",
				SLEY_POOL_OPTIONS(.module = "work")),
		 0);
	sley_pool_close(pool);
	CHECK_EQ(sley_server_create(house->router, &house->server,
				    SLEY_SERVER_OPTIONS(.socket = house->path)),
		 0);
}

static void house_end(struct house *house)
{
	sley_server_destroy(house->server);
	CHECK_EQ(sley_router_destroy(house->router), 0);
	CHECK_EQ(sley_destroy(house->rt), 0);
	CHECK_EQ(rmdir(house->folder), 0);
}

/* The next request finds the daemon, which is there, however soon it comes. */
TEST(a_client_that_was_thrown_out_may_connect_again)
{
	struct sley_client *client;
	struct sley_pool *pool;
	struct house house;

	house_begin(&house);
	client = client_with(SLEY_CLIENT_OPTIONS(.socket = house.path,
						 .rt = house.rt, .report = hear,
						 .report_self = heard));
	pool = work_pool(client);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(work_echo(pool, i), 0);
		CHECK_EQ(sley_server_eject(house.server,
					   client_info(client).session,
					   "for the test"),
			 0);
		EVENTUALLY(client_info(client).state == SLEY_CLIENT_DOWN);
		CHECK(strstr(heard, "ends the session: for the test"));
		CHECK(!strstr(heard, "has ended"));
	}
	CHECK_EQ(work_echo(pool, 4), 0);
	CHECK(strstr(heard, "again"));
	client_close(client, pool);
	house_end(&house);
}

CLIENT_TEST(a_client_with_open_pools_is_not_closed)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);

	CHECK_EQ(sley_client_close(client), -EBUSY);
	CHECK_EQ(work_echo(pool, 1), 0);
	client_close(client, pool);
	CHECK_EQ(sley_client_close(NULL), 0);
}

CLIENT_TEST(requests_under_way_end_with_the_client)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	struct sley_request request[3];
	uint32_t item[3] = { 0, 1, 2 };

	for (int i = 0; i < 3; i++) {
		struct sley_request_spec spec = work_on(WORK_HOLD, &item[i]);

		CHECK_EQ(sley_submit(pool, &request[i], &spec), 0);
	}
	/* In any order.  A request that has not begun is cancelled unseen. */
	for (int i = 0; i < 3; i++)
		EVENTUALLY(keeper_begun(keeper, i));
	client_close(client, pool);
	for (int i = 0; i < 3; i++) {
		CHECK(sley_request_is_done(&request[i]));
		CHECK_EQ(sley_request_wait(&request[i]), 0);
		CHECK_EQ(sley_request_code(&request[i]), SLEY_EUNKNOWN);
	}
	/* The daemon has heard of it. */
	EVENTUALLY(atomic_load(&keeper->page->cancelled) == 3);
}

struct closing {
	struct sley_request request;
	atomic_int waits;
};

static void *wait_for_the_end(void *arg)
{
	struct closing *closing = arg;

	atomic_store(&closing->waits, 1);
	CHECK_EQ(sley_request_wait(&closing->request), 0);
	CHECK_EQ(sley_request_code(&closing->request), SLEY_EUNKNOWN);
	return NULL;
}

TEST(a_thread_that_waits_returns_when_the_client_is_closed)
{
	struct sley_request_spec spec;
	struct sley_client *client;
	struct closing closing[3];
	struct sley_pool *pool;
	struct keeper keeper;
	pthread_t thread[3];
	uint32_t item = 0;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	spec = work_on(WORK_HOLD, &item);
	for (int i = 0; i < 3; i++) {
		closing[i].waits = 0;
		CHECK_EQ(sley_submit(pool, &closing[i].request, &spec), 0);
		thread[i] = test_thread(wait_for_the_end, &closing[i]);
		CHECK_EVENTUALLY(atomic_load(&closing[i].waits));
	}
	EVENTUALLY(keeper_begun(&keeper, 0) == 3);
	client_close(client, pool);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	keeper_end(&keeper);
}

/* ---- fork ------------------------------------------------------------------------------ */

static void use_in_child(struct sley_client *client, struct sley_pool *pool,
			 struct sley_request *flying,
			 const struct keeper *keeper)
{
	struct sley_client_info info = { .size = sizeof(info) };
	struct sley_request request;
	struct sley_pool *other;
	struct sley_client *own;
	uint64_t word = 0;

	CHECK_EQ(sley_submit(pool, &request, SLEY_REQUEST(.method = 0)),
		 SLEY_EFORKED);
	CHECK_EQ(sley_submit_and_forget(pool, SLEY_REQUEST(.method = 0)),
		 SLEY_EFORKED);
	CHECK_EQ(work_echo(pool, word), SLEY_EFORKED);
	CHECK_EQ(sley_request_wait(flying), SLEY_EFORKED);
	CHECK(!sley_request_is_done(flying));
	sley_request_cancel(flying);
	CHECK_EQ(sley_client_pool_open(client, &other, "work", NULL),
		 SLEY_EFORKED);
	CHECK_EQ(sley_client_inspect(client, &info), SLEY_EFORKED);
	sley_pool_close(pool);
	CHECK_EQ(sley_client_close(client), SLEY_EFORKED);
	own = client_open(keeper);
	other = work_pool(own);
	CHECK_EQ(work_echo(other, 6), 0);
	client_close(own, other);
}

TEST(a_client_does_not_survive_a_fork)
{
	struct sley_request_spec spec;
	struct sley_request flying;
	struct sley_client *client;
	struct sley_pool *pool;
	struct keeper keeper;
	uint32_t item = 0;
	int pid, status;

	keeper_begin(&keeper);
	client = client_open(&keeper);
	pool = work_pool(client);
	spec = work_on(WORK_HOLD, &item);
	CHECK_EQ(sley_submit(pool, &flying, &spec), 0);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		use_in_child(client, pool, &flying, &keeper);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	/* The parent has not noticed. */
	atomic_store(&keeper.page->open, true);
	CHECK_EQ(sley_request_wait(&flying), 0);
	CHECK_EQ(sley_request_code(&flying), 0);
	CHECK_EQ(work_echo(pool, 1), 0);
	client_close(client, pool);
	keeper_end(&keeper);
}
