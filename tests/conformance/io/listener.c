/* SPDX-License-Identifier: MIT */
/*
 * listener.c - listeners and servers: where they listen, how they end, their limits.
 */
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "conformance/io/pairs.h"

enum { NR_CLIENTS = 16 };

struct service {
	struct sley_listener listener;
	char address[SLEY_ADDRESS_TEXT];
	sley_serve_fn *fn;
	const struct sley_serve_options *options;
	struct sley_group group;
	struct sley_task task;
	int result; /* of sley_listener_serve() */
	/* What its connections do. */
	struct sley_event go;
	atomic_int nr_begun, nr_now, nr_most, nr_cancelled;
};

static void serve_task(void *arg)
{
	struct service *service = arg;

	service->result = sley_listener_serve(&service->listener, service->fn,
					      service, service->options);
}

static void listen_at(struct service *service, const char *address)
{
	*service = (struct service){ .go = SLEY_EVENT_INIT };
	CHECK_EQ(sley_listener_open(&service->listener, address, NULL), 0);
	CHECK_GT(sley_listener_address(&service->listener, service->address,
				       sizeof(service->address)),
		 0);
}

static void serve(struct service *service, sley_serve_fn *fn,
		  const struct sley_serve_options *options)
{
	service->fn = fn;
	service->options = options;
	sley_spawn(&service->group, &service->task, serve_task, service);
}

static void end(struct service *service)
{
	CHECK_EQ(sley_listener_close(&service->listener), 0);
	sley_join(&service->group);
	CHECK_EQ(service->result, 0);
}

static void connect_to(struct service *service, struct sley_stream *stream)
{
	CHECK_EQ(sley_stream_connect(stream, service->address), 0);
}

/* ---- echo ----------------------------------------------------------------------------- */

static int echo(struct sley_stream *stream, void *arg)
{
	const char *line;
	ssize_t n;

	(void)arg;
	while ((n = sley_stream_find(stream, &line, "\n", 1)) > 0) {
		CHECK_EQ(sley_stream_write(stream, line, (size_t)n), n);
		sley_stream_consume(stream, (size_t)n);
	}
	return (int)n;
}

static void ask_ten_times(void *arg)
{
	struct sley_stream stream;
	const char *line;

	connect_to(arg, &stream);
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_stream_write(&stream, "hello\n", 6), 6);
		CHECK_EQ(sley_stream_find(&stream, &line, "\n", 1), 6);
		CHECK_EQ(memcmp(line, "hello\n", 6), 0);
		sley_stream_consume(&stream, 6);
	}
	CHECK_EQ(sley_stream_close(&stream), 0);
}

static void check_echo(const char *address)
{
	struct service service;

	listen_at(&service, address);
	serve(&service, echo, NULL);
	run_tasks(NR_CLIENTS, ask_ten_times, &service);
	end(&service);
}

TEST_WORKERS(clients_of_each_kind_are_served)
{
	struct sley *rt = start();
	char path[64];

	check_echo("127.0.0.1:0");
	check_echo(":0");
	(void)snprintf(path, sizeof(path), "unix:@sley-listener-%d",
		       (int)getpid());
	check_echo(path);
	(void)snprintf(path, sizeof(path), "unix:/tmp/sley-listener-%d",
		       (int)getpid());
	check_echo(path);
	CHECK_EQ(access(path + 5, F_OK), -1);
	stop(rt);
}

/* The memory that the runtime has once @nr more connections were served, in turn. */
static int64_t memory_after(struct service *service, int nr)
{
	struct sley_stream stream;
	const char *data;

	for (int i = 0; i < nr; i++) {
		connect_to(service, &stream);
		CHECK_EQ(sley_stream_shut(&stream), 0);
		CHECK_EQ(sley_stream_peek(&stream, &data, 1), 0);
		CHECK_EQ(sley_stream_close(&stream), 0);
	}
	return test_allocated();
}

TEST_WORKERS(a_server_uses_the_memory_of_ended_connections_again)
{
	struct sley *rt = start();
	struct service service;
	int64_t before;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, echo, NULL);
	before = memory_after(&service, 100);
	/* Without that, each would take at least 64 bytes. */
	CHECK_LT(memory_after(&service, 2000) - before, 100000);
	end(&service);
	stop(rt);
}

static void *ask_in_thread(void *arg)
{
	ask_ten_times(arg);
	return NULL;
}

TEST_WORKERS(plain_threads_are_clients_too)
{
	struct sley *rt = start();
	struct service service;
	pthread_t thread;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, echo, NULL);
	thread = test_thread(ask_in_thread, &service);
	ask_ten_times(&service);
	/* A bound thread that runs the tasks itself must not sleep. */
	CHECK_SOON(pthread_tryjoin_np(thread, NULL) == 0);
	end(&service);
	stop(rt);
}

/* ---- ends ----------------------------------------------------------------------------- */

static int wait_for_go(struct sley_stream *stream, void *arg)
{
	struct service *service = arg;
	int now = atomic_fetch_add(&service->nr_now, 1) + 1;
	int most = atomic_load(&service->nr_most), err;

	while (now > most &&
	       !atomic_compare_exchange_weak(&service->nr_most, &most, now))
		;
	atomic_fetch_add(&service->nr_begun, 1);
	err = sley_event_wait_until(&service->go, SLEY_FOREVER);
	if (err == -ECANCELED)
		atomic_fetch_add(&service->nr_cancelled, 1);
	else
		CHECK_EQ(sley_stream_write(stream, "done", 4), 4);
	atomic_fetch_sub(&service->nr_now, 1);
	return err;
}

static void connect_all(struct service *service, struct sley_stream *streams,
			int nr)
{
	for (int i = 0; i < nr; i++)
		connect_to(service, &streams[i]);
}

static void read_done(struct sley_stream *stream)
{
	char data[8];

	CHECK_EQ(sley_stream_read_exactly(stream, data, 8), 4);
	CHECK_EQ(memcmp(data, "done", 4), 0);
	CHECK_EQ(sley_stream_close(stream), 0);
}

TEST_WORKERS(a_close_lets_connections_end)
{
	struct sley *rt = start();
	struct sley_stream streams[4];
	struct service service;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, wait_for_go, NULL);
	connect_all(&service, streams, 4);
	CHECK_SOON(service.nr_begun == 4);
	CHECK_EQ(sley_listener_close(&service.listener), 0);
	CHECK_EQ(sley_join_until(&service.group, in_ms(5)), -ETIMEDOUT);
	sley_event_set(&service.go);
	sley_join(&service.group);
	CHECK_EQ(service.result, 0);
	CHECK_EQ(service.nr_cancelled, 0);
	for (int i = 0; i < 4; i++)
		read_done(&streams[i]);
	stop(rt);
}

static void check_cancelled(struct service *service,
			    struct sley_stream *streams, int nr)
{
	char data[8];

	CHECK_EQ(service->nr_cancelled, nr);
	/* A connection that failed is reset. */
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(sley_stream_read(&streams[i], data, 8), -ECONNRESET);
		CHECK_EQ(sley_stream_close(&streams[i]), 0);
	}
}

TEST_WORKERS(a_cancel_ends_a_server_and_its_connections)
{
	struct sley *rt = start();
	struct sley_stream streams[4];
	struct service service;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, wait_for_go, NULL);
	connect_all(&service, streams, 4);
	CHECK_SOON(service.nr_begun == 4);
	sley_cancel(&service.task);
	sley_join(&service.group);
	CHECK_EQ(service.result, -ECANCELED);
	check_cancelled(&service, streams, 4);
	CHECK_EQ(sley_listener_close(&service.listener), 0);
	stop(rt);
}

TEST_WORKERS(connections_that_last_too_long_are_cancelled)
{
	const struct sley_serve_options options = { .size = sizeof(options),
						    .drain_ns = 5 * SLEY_MSEC };
	struct sley *rt = start();
	struct sley_stream streams[4];
	struct service service;
	uint64_t start_ns;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, wait_for_go, &options);
	connect_all(&service, streams, 4);
	CHECK_SOON(service.nr_begun == 4);
	start_ns = sley_now();
	end(&service);
	CHECK_GE(ms_since(start_ns), 5);
	check_cancelled(&service, streams, 4);
	stop(rt);
}

static int cancel_server(struct sley_stream *stream, void *arg)
{
	struct service *service = arg;

	(void)stream;
	atomic_fetch_add(&service->nr_begun, 1);
	sley_cancel(&service->task);
	return -EIO;
}

/* Two connections are there.  The first ends the server, which goes first. */
static void check_never_begun(int workers)
{
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);
	struct sley_stream streams[2];
	struct service service;
	char data[8];

	listen_at(&service, "127.0.0.1:0");
	connect_all(&service, streams, 2);
	service.fn = cancel_server;
	CHECK_EQ(sley_spawn_with(&service.group, &service.task, serve_task,
				 &service, SLEY_OPTIONS(.priority = -5)),
		 0);
	sley_join(&service.group);
	CHECK_EQ(service.result, -ECANCELED);
	CHECK_EQ(service.nr_begun, 1);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_stream_read(&streams[i], data, 8), -ECONNRESET);
		CHECK_EQ(sley_stream_close(&streams[i]), 0);
	}
	CHECK_EQ(sley_listener_close(&service.listener), 0);
	stop(rt);
}

TEST(a_connection_whose_task_never_begins_is_closed)
{
	check_never_begun(SLEY_SINGLE);
	check_never_begun(1);
}

static int fail_first(struct sley_stream *stream, void *arg)
{
	struct service *service = arg;
	const char *data;

	if (atomic_fetch_add(&service->nr_begun, 1))
		return echo(stream, arg);
	CHECK_EQ(sley_stream_peek(stream, &data, 1), 1);
	return -EIO;
}

TEST_WORKERS(a_connection_that_fails_does_not_end_the_server)
{
	struct sley *rt = start();
	struct sley_stream stream;
	struct service service;
	char data[8];

	listen_at(&service, "127.0.0.1:0");
	serve(&service, fail_first, NULL);
	connect_to(&service, &stream);
	CHECK_EQ(sley_stream_write(&stream, "x", 1), 1);
	CHECK_EQ(sley_stream_read(&stream, data, 8), -ECONNRESET);
	CHECK_EQ(sley_stream_close(&stream), 0);
	run_task(ask_ten_times, &service);
	end(&service);
	stop(rt);
}

static int close_it_myself(struct sley_stream *stream, void *arg)
{
	(void)arg;
	CHECK_EQ(sley_stream_write(stream, "done", 4), 4);
	return sley_stream_close(stream);
}

TEST_WORKERS(a_connection_may_be_closed_by_its_function)
{
	struct sley *rt = start();
	struct sley_stream stream;
	struct service service;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, close_it_myself, NULL);
	connect_to(&service, &stream);
	read_done(&stream);
	end(&service);
	stop(rt);
}

TEST_WORKERS(a_listener_has_one_server_and_one_close)
{
	struct sley *rt = start();
	struct sley_stream stream;
	struct service service;
	char text[8];

	listen_at(&service, "127.0.0.1:0");
	CHECK_EQ(sley_listener_address(&service.listener, text, 8), -ENOSPC);
	CHECK_EQ(sley_listener_accept_until(&service.listener, &stream,
					    in_ms(2)),
		 -ETIMEDOUT);
	serve(&service, echo, NULL);
	run_task(ask_ten_times, &service);
	CHECK_EQ(sley_listener_serve(&service.listener, echo, NULL, NULL),
		 -EBUSY);
	end(&service);
	CHECK_EQ(sley_listener_close(&service.listener), -EBADF);
	CHECK_EQ(sley_listener_accept(&service.listener, &stream), -EBADF);
	CHECK_EQ(sley_listener_address(&service.listener, text, 8), -EBADF);
	CHECK_EQ(sley_listener_serve(&service.listener, echo, NULL, NULL), 0);
	stop(rt);
}

/* ---- limits --------------------------------------------------------------------------- */

TEST_WORKERS(no_more_connections_than_allowed)
{
	const struct sley_serve_options options = { .size = sizeof(options),
						    .connections_max = 2 };
	struct sley *rt = start();
	struct sley_stream streams[6];
	struct service service;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, wait_for_go, &options);
	connect_all(&service, streams, 6);
	CHECK_SOON(service.nr_begun == 2);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(service.nr_begun, 2);
	sley_event_set(&service.go);
	for (int i = 0; i < 6; i++)
		read_done(&streams[i]);
	end(&service);
	CHECK_EQ(service.nr_begun, 6);
	CHECK_EQ(service.nr_most, 2);
	stop(rt);
}

TEST_WORKERS(a_server_at_its_limit_can_be_closed)
{
	const struct sley_serve_options options = { .size = sizeof(options),
						    .connections_max = 1,
						    .drain_ns = SLEY_MSEC };
	struct sley *rt = start();
	struct sley_stream stream;
	struct service service;

	listen_at(&service, "127.0.0.1:0");
	serve(&service, wait_for_go, &options);
	connect_to(&service, &stream);
	CHECK_SOON(service.nr_begun == 1);
	end(&service);
	check_cancelled(&service, &stream, 1);
	stop(rt);
}

static atomic_int nr_lines;

static void count_line(void *arg, const char *line)
{
	(void)arg;
	if (strstr(line, "cannot accept a connection"))
		atomic_fetch_add(&nr_lines, 1);
}

/* Takes all numbers of descriptors that are left. */
struct hog {
	int fd[64];
	int nr;
};

static void hog_all(struct hog *hog)
{
	const struct rlimit low = { .rlim_cur = 64, .rlim_max = 64 };

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
	for (hog->nr = 0; (hog->fd[hog->nr] = dup(0)) >= 0; hog->nr++)
		;
	CHECK_EQ(errno, EMFILE);
	CHECK_GT(hog->nr, 1);
}

static void let_go(struct hog *hog, int nr)
{
	for (; hog->nr > 0 && nr > 0; nr--)
		CHECK_EQ(close(hog->fd[--hog->nr]), 0);
}

/* A socket that was made before. */
static void connect_socket(struct service *service, struct sley_stream *stream,
			   int fd)
{
	struct sley_address address;

	CHECK_EQ(sley_address_parse(&address, service->address), 0);
	CHECK_EQ(sley_io_connect(fd, (struct sockaddr *)&address.storage,
				 address.length),
		 0);
	sley_stream_open(stream, fd);
}

static void ask_once(struct sley_stream *stream)
{
	char data[4];

	CHECK_EQ(sley_stream_write(stream, "one\n", 4), 4);
	CHECK_EQ(sley_stream_read_exactly(stream, data, 4), 4);
	CHECK_EQ(memcmp(data, "one\n", 4), 0);
}

/* In a task: a plain thread needs a descriptor for each wait. */
static void run_short(void *arg)
{
	struct service *service = arg;
	struct sley_stream first, second;
	struct hog hog;
	char data[4];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	connect_to(service, &first);
	ask_once(&first);
	hog_all(&hog);
	CHECK_EQ(nr_lines, 0);
	connect_socket(service, &second, fd);
	CHECK_SOON(nr_lines == 1);
	CHECK_EQ(sley_stream_write(&second, "two\n", 4), 4);
	CHECK_EQ(sley_stream_read_until(&second, data, 4, in_ms(20)),
		 -ETIMEDOUT);
	/* The connections that there are go on. */
	ask_once(&first);
	CHECK_EQ(nr_lines, 1);
	if (service->options)
		let_go(&hog, hog.nr);
	else
		CHECK_EQ(sley_stream_close(&first), 0);
	CHECK_EQ(sley_stream_read_exactly(&second, data, 4), 4);
	CHECK_EQ(memcmp(data, "two\n", 4), 0);
	CHECK_EQ(nr_lines, 1);
	let_go(&hog, hog.nr);
	(void)sley_stream_close(&first);
	CHECK_EQ(sley_stream_close(&second), 0);
}

/*
 * The first waits of a runtime make its reactor.  If two make it at the same time, one of
 * them gives its descriptors back, perhaps after the hog has counted them.
 */
static void make_reactor(void *arg)
{
	char byte;
	int fd[2];

	(void)arg;
	CHECK_EQ(sley_io_pipe(fd), 0);
	CHECK_EQ(sley_io_read_until(fd[0], &byte, 1, in_ms(1)), -ETIMEDOUT);
	CHECK_EQ(sley_io_close(fd[0]), 0);
	CHECK_EQ(sley_io_close(fd[1]), 0);
}

static void check_shortage(const struct sley_serve_options *options)
{
	struct sley_config config = *test_config();
	struct service service;
	struct sley *rt;

	config.report = count_line;
	/* A worker that sleeps for the first time would make its ring. */
	config.no_io_uring = true;
	rt = start_with(&config);
	run_task(make_reactor, NULL);
	listen_at(&service, "127.0.0.1:0");
	serve(&service, echo, options);
	run_task(run_short, &service);
	end(&service);
	stop(rt);
}

TEST_WORKERS(a_shortage_of_descriptors_ends_with_a_connection)
{
	check_shortage(NULL);
}

TEST_WORKERS(a_shortage_of_descriptors_ends_when_some_are_free)
{
	check_shortage(SLEY_SERVE_OPTIONS(.connections_max = 100));
}

/* The last descriptor is taken, and no connection waits. */
TEST(a_server_without_descriptors_and_connections_reports_nothing)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct sley_stream stream;
	struct service service;
	struct sley *rt;
	struct hog hog;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	config.report = count_line;
	rt = start_with(&config);
	CHECK(fd >= 0);
	listen_at(&service, "127.0.0.1:0");
	serve(&service, echo, NULL);
	run_task(ask_ten_times, &service);
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	hog_all(&hog);
	let_go(&hog, 1);
	connect_socket(&service, &stream, fd);
	ask_once(&stream);
	CHECK_EQ(dup(0), -1);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(nr_lines, 0);
	let_go(&hog, hog.nr);
	CHECK_EQ(sley_stream_close(&stream), 0);
	run_task(ask_ten_times, &service);
	end(&service);
	CHECK_EQ(nr_lines, 0);
	stop(rt);
}

/* ---- options -------------------------------------------------------------------------- */

static int nodelay_of(const struct sley_stream *stream)
{
	int on = 0;
	socklen_t length = sizeof(on);

	CHECK_EQ(getsockopt(sley_stream_fd(stream), IPPROTO_TCP, TCP_NODELAY,
			    &on, &length),
		 0);
	return on != 0;
}

static void check_nodelay(const struct sley_listener_options *options, int on)
{
	struct sley_listener listener;
	struct sley_stream in, out;
	char address[SLEY_ADDRESS_TEXT];

	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1:0", options), 0);
	CHECK_GT(sley_listener_address(&listener, address, sizeof(address)), 0);
	CHECK_EQ(sley_stream_connect(&out, address), 0);
	CHECK_EQ(sley_listener_accept(&listener, &in), 0);
	CHECK_EQ(nodelay_of(&in), on);
	CHECK_EQ(nodelay_of(&out), 1);
	CHECK_EQ(sley_stream_close(&in), 0);
	CHECK_EQ(sley_stream_close(&out), 0);
	CHECK_EQ(sley_listener_close(&listener), 0);
}

TEST_WORKERS(small_writes_are_not_delayed)
{
	struct sley *rt = start();

	check_nodelay(NULL, 1);
	check_nodelay(SLEY_LISTENER_OPTIONS(.delay = true), 0);
	stop(rt);
}

TEST_WORKERS(a_port_is_shared_only_on_request)
{
	const struct sley_listener_options share = { .size = sizeof(share),
						     .reuse_port = true };
	struct sley *rt = start();
	struct sley_listener first, second;
	char address[SLEY_ADDRESS_TEXT];

	CHECK_EQ(sley_listener_open(&first, "127.0.0.1:0", &share), 0);
	CHECK_GT(sley_listener_address(&first, address, sizeof(address)), 0);
	CHECK_EQ(sley_listener_open(&second, address, NULL), -EADDRINUSE);
	CHECK_EQ(sley_listener_open(&second, address, &share), 0);
	CHECK_EQ(sley_listener_close(&first), 0);
	CHECK_EQ(sley_listener_close(&second), 0);
	stop(rt);
}

TEST(options_that_make_no_sense_are_refused)
{
	struct sley *rt = start();
	struct sley_listener listener;
	struct sley_serve_options serve = { .size = 0 };

	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1:0",
				    SLEY_LISTENER_OPTIONS(.backlog = -1)),
		 -EINVAL);
	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1:0",
				    SLEY_LISTENER_OPTIONS(.reserved = { 1 })),
		 -E2BIG);
	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1", NULL), -EINVAL);
	CHECK_EQ(sley_listener_close(&listener), -EBADF);
	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1:0", NULL), 0);
	CHECK_EQ(sley_listener_serve(&listener, echo, NULL, &serve), -EINVAL);
	CHECK_EQ(sley_listener_close(&listener), 0);
	stop(rt);
	CHECK_EQ(sley_listener_open(&listener, "127.0.0.1:0", NULL), 0);
	CHECK_EQ(sley_listener_serve(&listener, echo, NULL, NULL),
		 SLEY_ENORUNTIME);
	CHECK_EQ(sley_listener_close(&listener), 0);
}

TEST(a_unix_socket_that_was_left_behind_is_replaced)
{
	struct sley *rt = start();
	struct sley_listener first, second;
	char path[64], left[64];

	(void)snprintf(path, sizeof(path), "unix:/tmp/sley-left-%d",
		       (int)getpid());
	(void)snprintf(left, sizeof(left), "%s-2", path + 5);
	CHECK_EQ(sley_listener_open(&first, path, NULL), 0);
	CHECK_EQ(sley_listener_open(&second, path, NULL), -EADDRINUSE);
	/* A second name stays when the listener is gone. */
	CHECK_EQ(link(path + 5, left), 0);
	CHECK_EQ(sley_listener_close(&first), 0);
	CHECK_EQ(rename(left, path + 5), 0);
	CHECK_EQ(sley_listener_open(&second, path, NULL), 0);
	CHECK_EQ(sley_listener_close(&second), 0);
	CHECK_EQ(access(path + 5, F_OK), -1);
	stop(rt);
}
