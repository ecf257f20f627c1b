/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - the peers `socket` and `pipe` of the rows `client-...`: two processes
 * that talk through the kernel, over a stream of a Unix socket or over two pipes.
 *
 * client-rtt   a word there and back: both sides ask the kernel again and again, and
 *              then both sleep in the kernel
 * client-rate  messages of a cache line; a server with epoll sends them back
 * client-big   the large side of a trip in as few calls as the kernel allows
 */
#include "../problems/trips.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define MESSAGE 64 /* bytes */

/* One end of the conversation. */
struct end {
	const struct measure *m;
	int in, out;
};

/* Both ends of a conversation. */
struct line {
	struct end client, server;
};

static struct line line_socket(const struct measure *m)
{
	int fds[2];

	MEASURE_CHECK(m, socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	return (struct line){ { m, fds[0], fds[0] }, { m, fds[1], fds[1] } };
}

static struct line line_pipe(const struct measure *m)
{
	int to[2], fro[2];

	MEASURE_CHECK(m, pipe(to) == 0 && pipe(fro) == 0);
	/* As large as anybody may have it. */
	fcntl(to[1], F_SETPIPE_SZ, CLIENT_BIG);
	fcntl(fro[1], F_SETPIPE_SZ, CLIENT_BIG);
	return (struct line){ { m, fro[0], to[1] }, { m, to[0], fro[1] } };
}

static void end_close(const struct end *end)
{
	close(end->in);
	if (end->out != end->in)
		close(end->out);
}

/* Both ends return at once where they would sleep. */
static void line_spins(const struct line *line)
{
	fcntl(line->client.in, F_SETFL, O_NONBLOCK);
	fcntl(line->server.in, F_SETFL, O_NONBLOCK);
}

/* ---- whole messages --------------------------------------------------------------------- */

/* False at the end of the stream. */
static bool get_all(const struct end *end, void *data, size_t size)
{
	char *at = data;

	while (size > 0) {
		ssize_t got = read(end->in, at, size);

		if (got == 0)
			return false;
		if (got < 0) {
			MEASURE_CHECK(end->m, errno == EAGAIN);
			continue;
		}
		at += got;
		size -= (size_t)got;
	}
	return true;
}

static void put_all(const struct end *end, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t put = write(end->out, at, size);

		MEASURE_CHECK(end->m, put > 0 || errno == EAGAIN);
		if (put > 0) {
			at += put;
			size -= (size_t)put;
		}
	}
}

/* ---- client-rtt ---------------------------------------------------------------------- */

static void answer_words(void *arg)
{
	const struct line *line = arg;
	uint64_t word;

	end_close(&line->client);
	while (get_all(&line->server, &word, sizeof(word))) {
		word++;
		put_all(&line->server, &word, sizeof(word));
	}
}

static void ask_word(void *self, uint64_t value)
{
	const struct end *end = self;
	uint64_t got = 0;

	put_all(end, &value, sizeof(value));
	MEASURE_CHECK(end->m, get_all(end, &got, sizeof(got)));
	MEASURE_CHECK(end->m, got == value + 1);
}

typedef struct line line_fn(const struct measure *m);

static void trip(const struct measure *m, line_fn *open,
		 const struct trips_way *way)
{
	struct line line = open(m);
	pid_t pid;

	if (!way->name)
		line_spins(&line);
	pid = crowd_serve(m, answer_words, &line);
	end_close(&line.server);
	trips_run(m, way, ask_word, &line.client);
	end_close(&line.client);
	crowd_join(m, pid);
}

static void client_rtt(const struct measure *m, line_fn *open)
{
	crowd_needs_two_cpus();
	for (int i = 0; i < TRIPS_NR_WAYS; i++)
		trip(m, open, &trips_ways[i]);
}

static void run_rtt_socket(const struct measure *m)
{
	client_rtt(m, line_socket);
}

static void run_rtt_pipe(const struct measure *m)
{
	client_rtt(m, line_pipe);
}

/* ---- client-rate --------------------------------------------------------------------- */

struct rate {
	struct trips_rate rate;
	struct line lines[CROWD_MAX];
};

/* Sends back what has come.  False at the end of the stream. */
static bool send_back(const struct end *end)
{
	char data[CLIENT_BATCH * MESSAGE];
	ssize_t got = read(end->in, data, sizeof(data));

	MEASURE_CHECK(end->m, got >= 0);
	put_all(end, data, (size_t)got);
	return got > 0;
}

static void serve_rate(void *arg)
{
	const struct rate *rate = arg;
	const struct measure *m = rate->rate.m;
	int epoll = epoll_create1(0), nr = m->workers;

	for (int i = 0; i < nr; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		event.data.u32 = (uint32_t)i;
		end_close(&rate->lines[i].client);
		MEASURE_CHECK(m,
			      epoll_ctl(epoll, EPOLL_CTL_ADD,
					rate->lines[i].server.in, &event) == 0);
	}
	while (nr > 0) {
		struct epoll_event events[CROWD_MAX];
		int ready = epoll_wait(epoll, events, CROWD_MAX, -1);

		for (int i = 0; i < ready; i++) {
			const struct end *end =
				&rate->lines[events[i].data.u32].server;

			if (send_back(end))
				continue;
			end_close(end);
			nr--;
		}
	}
}

struct asker {
	const struct end *end;
	size_t size; /* of a batch */
};

static void ask_batch(void *self, uint64_t first)
{
	const struct asker *asker = self;
	char sent[CLIENT_BATCH * MESSAGE], got[CLIENT_BATCH * MESSAGE];

	memset(sent, (int)first, asker->size);
	put_all(asker->end, sent, asker->size);
	MEASURE_CHECK(asker->end->m, get_all(asker->end, got, asker->size));
	MEASURE_CHECK(asker->end->m, memcmp(sent, got, asker->size) == 0);
}

static void client_rate(struct crowd_member *member)
{
	struct rate *rate = member->arg;
	struct asker asker = { &rate->lines[member->nth].client,
			       rate->rate.at_a_time * MESSAGE };

	trips_rate_ask(&rate->rate, member, ask_batch, &asker);
}

static void measure_rate_of(const struct measure *m, uint32_t at_a_time)
{
	static struct rate rate;
	uint64_t ns;
	pid_t pid;

	trips_rate_init(&rate.rate, m, at_a_time);
	for (int i = 0; i < m->workers; i++)
		rate.lines[i] = line_socket(m);
	pid = crowd_serve(m, serve_rate, &rate);
	for (int i = 0; i < m->workers; i++)
		end_close(&rate.lines[i].server);
	ns = crowd_run(m, client_rate, &rate);
	for (int i = 0; i < m->workers; i++)
		end_close(&rate.lines[i].client);
	crowd_join(m, pid);
	trips_rate_report(&rate.rate, ns);
}

static void run_rate_socket(const struct measure *m)
{
	measure_rate_of(m, 1);
	measure_rate_of(m, CLIENT_BATCH);
}

/* ---- client-big ---------------------------------------------------------------------- */

struct big {
	struct line line;
	uint64_t *words; /* each process has its own copy after the fork */
};

static void serve_there(void *arg)
{
	const struct big *big = arg;
	const struct end *end = &big->line.server;

	end_close(&big->line.client);
	while (get_all(end, big->words, CLIENT_BIG)) {
		uint64_t value = big->words[0];

		MEASURE_CHECK(end->m, trips_big_is(big->words, value));
		put_all(end, &value, sizeof(value));
	}
}

static void serve_back(void *arg)
{
	const struct big *big = arg;
	const struct end *end = &big->line.server;
	uint64_t value;

	end_close(&big->line.client);
	while (get_all(end, &value, sizeof(value))) {
		trips_big_stamp(big->words, value);
		put_all(end, big->words, CLIENT_BIG);
	}
}

static void ask_there(void *self, uint64_t value)
{
	const struct big *big = self;
	const struct end *end = &big->line.client;
	uint64_t got = ~value;

	trips_big_stamp(big->words, value);
	put_all(end, big->words, CLIENT_BIG);
	MEASURE_CHECK(end->m, get_all(end, &got, sizeof(got)));
	MEASURE_CHECK(end->m, got == value);
}

static void ask_back(void *self, uint64_t value)
{
	const struct big *big = self;
	const struct end *end = &big->line.client;

	put_all(end, &value, sizeof(value));
	MEASURE_CHECK(end->m, get_all(end, big->words, CLIENT_BIG));
	MEASURE_CHECK(end->m, trips_big_is(big->words, value));
}

static void big_trips(const struct measure *m, const char *metric,
		      line_fn *open, void (*serve)(void *), trips_fn *ask)
{
	struct big big = { open(m), trips_big_alloc(m) };
	pid_t pid = crowd_serve(m, serve, &big);

	end_close(&big.line.server);
	crowd_pin(m, 0);
	trips_big(m, metric, ask, &big);
	end_close(&big.line.client);
	crowd_join(m, pid);
	free(big.words);
}

static void client_big(const struct measure *m, line_fn *open)
{
	crowd_needs_two_cpus();
	big_trips(m, "there_ns", open, serve_there, ask_there);
	big_trips(m, "back_ns", open, serve_back, ask_back);
}

static void run_big_socket(const struct measure *m)
{
	client_big(m, line_socket);
}

static void run_big_pipe(const struct measure *m)
{
	client_big(m, line_pipe);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "client-rtt-socket", run_rtt_socket },
		{ "client-rtt-pipe", run_rtt_pipe },
		{ "client-rate-socket", run_rate_socket },
		{ "client-big-socket", run_big_socket },
		{ "client-big-pipe", run_big_pipe },
	};

	signal(SIGPIPE, SIG_IGN);
	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
