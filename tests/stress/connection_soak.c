/* SPDX-License-Identifier: MIT */
/*
 * connection_soak.c - many connections that are reset, half-closed and given up, and
 * nothing is left of them: no descriptor, no fiber, no memory, no mapping.
 *
 * Clients connect from tasks, ask, and leave in a way of their own: before the server
 * has accepted, in the middle of a request, in the middle of an answer, by a reset, by
 * a half-close, at a deadline.  The server reads and writes with deadlines, is
 * cancelled in the middle, or aborts.  Two servers have their turns: one of streams,
 * and one of HTTP.
 *
 * The run has rounds.  After each round the server has ended, and the process is
 * measured.  The first round warms up: it makes the stacks, the caches and the epoll.
 * After each later round all must be as it was after the first.
 *
 * $SOAK_CONNECTIONS is the number of connections: a million in "make soak".  The
 * back-end is that of $SLEY_IO; tests/stress/CMakeLists.txt has a test for each.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sley/http.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "stream/buffer.h"
#include "stress/stress.h"

enum { NR_CLIENTS = 48, NR_ROUNDS = 8, ANSWER_MAX = 300000 };

struct round {
	bool is_http;
	union {
		struct sley_listener listener;
		struct sley_http_server http;
	};
	struct sley_group serving, asking;
	struct sley_task server, client[NR_CLIENTS];
	in_port_t port;
	atomic_int nr_left; /* connections that no client has begun */
};

static char answer_bytes[ANSWER_MAX];
static atomic_int nr_answered; /* whole answers */

/* ---- what is left ------------------------------------------------------------------------ */

struct residue {
	int nr_sockets;
	int nr_others; /* descriptors of the runtime */
	uint64_t nr_fibers_in_use;
	uint64_t allocated;
	uint64_t nr_buffers; /* of streams, that were ever made */
	long resident_kib;
	int nr_mappings;
};

static void count_descriptors(struct residue *residue)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	CHECK(dir != NULL);
	while ((entry = readdir(dir))) {
		struct stat file;

		if (*entry->d_name == '.' || fstat(atoi(entry->d_name), &file))
			continue;
		if (S_ISSOCK(file.st_mode))
			residue->nr_sockets++;
		else
			residue->nr_others++;
	}
	closedir(dir);
}

static int count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	int nr = 0, c;

	CHECK(file != NULL);
	while ((c = fgetc(file)) != EOF)
		nr += c == '\n';
	fclose(file);
	return nr;
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size, resident;

	CHECK(file != NULL);
	CHECK_EQ(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct residue measure(struct sley *rt)
{
	struct sley_stats stats = stats_of(rt);
	struct residue residue = {
		.nr_fibers_in_use = stats.fibers - stats.fibers_idle,
		.allocated = stats.allocated,
		.nr_buffers = buffers_made(),
		.resident_kib = resident_kib(),
		.nr_mappings = count_mappings(),
	};

	count_descriptors(&residue);
	return residue;
}

static void print_residue(const char *when, const struct residue *residue)
{
	printf("%s: %d sockets, %d other descriptors, %llu fibers in use, "
	       "%llu bytes allocated, %llu buffers made, %ld KiB resident, "
	       "%d mappings\n",
	       when, residue->nr_sockets, residue->nr_others,
	       (unsigned long long)residue->nr_fibers_in_use,
	       (unsigned long long)residue->allocated,
	       (unsigned long long)residue->nr_buffers, residue->resident_kib,
	       residue->nr_mappings);
}

/*
 * Caches have a size: what they hold differs from round to round, but less than a
 * byte of each connection would.  A worker that sleeps for descriptors for the first
 * time makes a ring.  The tools of a sanitizer keep freed memory.
 */
static void check_residue(const struct residue *before, struct sley *rt)
{
	struct residue now;

	CHECK_EVENTUALLY(measure(rt).nr_fibers_in_use ==
			 before->nr_fibers_in_use);
	now = measure(rt);
	CHECK_EQ(now.nr_sockets, before->nr_sockets);
	CHECK_LE(now.nr_others, before->nr_others + sley_nr_workers(rt));
	CHECK_LE(now.allocated, before->allocated + (256 << 10));
	CHECK_LE(now.nr_buffers, before->nr_buffers + 4 * NR_CLIENTS);
	if (test_sanitizer())
		return;
	CHECK_LE(now.resident_kib, before->resident_kib + (8 << 10));
	CHECK_LE(now.nr_mappings, before->nr_mappings + 64);
}

/* ---- the server of streams: a number as a line, and so many bytes ------------------------- */

struct exchange {
	struct sley_stream *stream;
	uint64_t deadline_ns;
	int result;
};

static int send_answer(const struct exchange *exchange, size_t size)
{
	ssize_t n;

	if (size > ANSWER_MAX)
		return -EINVAL;
	n = sley_stream_write_until(exchange->stream, answer_bytes, size,
				    exchange->deadline_ns);
	return n < 0 ? (int)n : (size_t)n < size ? -EPIPE : 0;
}

static void run_exchange(void *arg)
{
	struct exchange *exchange = arg;
	const char *line;
	ssize_t n = sley_stream_find_until(exchange->stream, &line, "\n", 1,
					   exchange->deadline_ns);
	size_t size = n > 0 ? (size_t)strtoul(line, NULL, 10) : 0;

	if (n > 0) {
		sley_stream_consume(exchange->stream, (size_t)n);
		n = send_answer(exchange, size);
	}
	exchange->result = (int)n;
}

/* The task that serves is cancelled wherever it is. */
static int exchange_cancelled(struct sley_stream *stream)
{
	struct exchange exchange = { stream, SLEY_FOREVER, -ECANCELED };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, run_exchange, &exchange);
	dawdle();
	sley_cancel(&task);
	sley_join(&group);
	return exchange.result;
}

static int serve_stream(struct sley_stream *stream, void *arg)
{
	struct exchange exchange = { stream, SLEY_FOREVER, 0 };

	(void)arg;
	switch (test_random(8)) {
	case 0:
		return one_in(2) ? -EIO : 0;
	case 1:
		return exchange_cancelled(stream);
	case 2:
		exchange.deadline_ns = soon();
		break;
	default:
		break;
	}
	run_exchange(&exchange);
	return exchange.result;
}

static void run_listener(void *arg)
{
	struct round *round = arg;
	int err = sley_listener_serve(
		&round->listener, serve_stream, NULL,
		SLEY_SERVE_OPTIONS(.connections_max = one_in(2) ? 16 : 0));

	CHECK_EQ(err, 0);
}

/* ---- the server of HTTP: a number as the path ----------------------------------------------- */

static int serve_request(struct sley_http_request *request,
			 struct sley_http_response *response, void *arg)
{
	size_t size = (size_t)strtoul(request->path.data + 1, NULL, 10);

	(void)arg;
	if (size > ANSWER_MAX || one_in(8))
		return one_in(2) ? -ENOENT : -EIO;
	return sley_http_respond(response, 200, "text/plain", answer_bytes,
				 size);
}

static void run_http(void *arg)
{
	struct round *round = arg;

	CHECK_EQ(sley_http_server_run(&round->http), 0);
}

/* ---- clients ---------------------------------------------------------------------------------- */

/* From many addresses: a port that was used a moment ago cannot be used again. */
static int connect_to(const struct round *round)
{
	struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr =
			htonl(0x7f000001u + (uint32_t)test_random(1 << 16)),
	};
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = round->port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one,
			    sizeof(one)),
		 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	err = sley_io_connect_until(fd, (const struct sockaddr *)&to,
				    sizeof(to),
				    one_in(16) ? soon() : SLEY_FOREVER);
	/* The server may have accepted and reset it already. */
	if (err && err != -ETIMEDOUT)
		CHECK_EQ(err, -ECONNRESET);
	if (!err)
		return fd;
	CHECK_EQ(sley_io_close(fd), 0);
	return err;
}

static void write_some(int fd, const char *data, size_t size)
{
	ssize_t n = sley_io_write(fd, data, size);

	CHECK(n > 0 || n == -EPIPE || n == -ECONNRESET);
}

/* The bytes that came until the end, a reset or the deadline. */
static size_t read_answer(int fd, size_t most, uint64_t deadline_ns)
{
	char data[4096];
	size_t sum = 0;
	ssize_t n = 1;

	while (sum < most && n > 0) {
		n = sley_io_read_until(fd, data, sizeof(data), deadline_ns);
		CHECK(n >= 0 || n == -ECONNRESET || n == -ETIMEDOUT);
		if (n > 0)
			sum += (size_t)n;
	}
	return sum;
}

/* close() sends a reset. */
static void reset_at_close(int fd)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
}

/* Ask, and take the whole answer; the last request of its connection. */
static void ask(const struct round *round, int fd, const char *request,
		size_t size)
{
	size_t got;

	write_some(fd, request, strlen(request));
	if (one_in(3))
		(void)shutdown(fd, SHUT_WR);
	got = read_answer(fd, SIZE_MAX, SLEY_FOREVER);
	if (!round->is_http)
		CHECK_LE(got, size);
	if (got >= size)
		atomic_fetch_add(&nr_answered, 1);
}

static void write_request(const struct round *round, char *text, size_t room,
			  size_t size)
{
	if (round->is_http)
		(void)snprintf(text, room,
			       "GET /%zu HTTP/1.1\r\nHost: localhost\r\n"
			       "Connection: close\r\n\r\n",
			       size);
	else
		(void)snprintf(text, room, "%zu\n", size);
}

static void behave(const struct round *round, int fd)
{
	size_t size = 1 + test_random(one_in(32) ? ANSWER_MAX : 2000);
	char request[128];

	write_request(round, request, sizeof(request), size);
	switch (test_random(7)) {
	case 0: /* perhaps before the accept */
		reset_at_close(fd);
		break;
	case 1: /* in the middle of a request */
		write_some(fd, request, 1 + test_random(strlen(request) - 1));
		if (one_in(2))
			reset_at_close(fd);
		break;
	case 2: /* in the middle of an answer */
		write_some(fd, request, strlen(request));
		(void)read_answer(fd, 1, SLEY_FOREVER);
		reset_at_close(fd);
		break;
	case 3: /* an answer that nobody reads */
		write_some(fd, request, strlen(request));
		break;
	case 4: /* too impatient */
		write_some(fd, request, strlen(request));
		(void)read_answer(fd, SIZE_MAX, soon());
		break;
	case 5: /* half a request, and the end */
		write_some(fd, request, test_random(strlen(request)) / 2 + 1);
		(void)shutdown(fd, SHUT_WR);
		(void)read_answer(fd, SIZE_MAX, SLEY_FOREVER);
		break;
	default:
		ask(round, fd, request, size);
	}
}

static void be_clients(void *arg)
{
	struct round *round = arg;

	while (atomic_fetch_sub(&round->nr_left, 1) > 0) {
		int fd = connect_to(round);

		test_count(1);
		if (fd < 0)
			continue;
		behave(round, fd);
		CHECK_EQ(sley_io_close(fd), 0);
	}
}

/* ---- a round ------------------------------------------------------------------------------------ */

static void open_server(struct round *round)
{
	char text[SLEY_ADDRESS_TEXT];
	int err = round->is_http
			  ? sley_http_server_open(&round->http, "127.0.0.1:0",
						  serve_request, NULL, NULL)
			  : sley_listener_open(&round->listener, "127.0.0.1:0",
					       NULL);

	CHECK_EQ(err, 0);
	CHECK_GT(round->is_http ? sley_http_server_address(&round->http, text,
							   sizeof(text))
				: sley_listener_address(&round->listener, text,
							sizeof(text)),
		 0);
	round->port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
	sley_spawn(&round->serving, &round->server,
		   round->is_http ? run_http : run_listener, round);
}

static void play_round(bool is_http, int nr)
{
	struct round *round = calloc(1, sizeof(*round));

	CHECK(round != NULL);
	round->is_http = is_http;
	atomic_init(&round->nr_left, nr);
	open_server(round);
	for (int i = 0; i < NR_CLIENTS; i++)
		sley_spawn(&round->asking, &round->client[i], be_clients,
			   round);
	sley_join(&round->asking);
	CHECK_EQ(is_http ? sley_http_server_stop(&round->http)
			 : sley_listener_close(&round->listener),
		 0);
	sley_join(&round->serving);
	free(round);
}

static int nr_connections(void)
{
	const char *text = getenv("SOAK_CONNECTIONS");

	return text && *text ? atoi(text) : test_scale(4000);
}

TEST(nothing_is_left_of_connections)
{
	struct sley_config config = stress_config();
	struct sley *rt = start_with(&config);
	int nr = nr_connections();
	struct residue before;

	test_timeout(60 + (unsigned int)nr / 100);
	memset(answer_bytes, 'x', sizeof(answer_bytes));
	play_round(false, nr / NR_ROUNDS);
	play_round(true, nr / NR_ROUNDS);
	before = measure(rt);
	CHECK_EQ(before.nr_sockets, 0);
	for (int i = 2; i < NR_ROUNDS; i++) {
		play_round(i % 2, nr / NR_ROUNDS);
		check_residue(&before, rt);
	}
	CHECK_GT(atomic_load(&nr_answered), nr / 20);
	if (getenv("SOAK_CONNECTIONS")) {
		struct residue after = measure(rt);

		print_residue("before", &before);
		print_residue("after ", &after);
	}
	stop(rt);
}
