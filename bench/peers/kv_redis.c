/* SPDX-License-Identifier: MIT */
/*
 * kv_redis.c - the peer Redis of the rows `kv-local` and `kv`: a server without files, on a
 * Unix socket.
 *
 * kv        as many clients as sley has, with Redis's own protocol
 * kv-local  redis-benchmark with 50 connections, one request at a time each
 *
 * In `kv-local` the keys are those of redis-benchmark, "key:000000000042", which have 16 bytes, too.
 * `ns` is a second over the requests of a second.  The mixtures after Zipf are left out:
 * redis-benchmark does not have them.
 */
#include "kv_server.h"

#define SERVER "/usr/bin/redis-server"
#define BENCHMARK "/usr/bin/redis-benchmark"
#define REQUESTS 300000

static const char *server[] = { SERVER,    "--port", "0",      "--unixsocket",
				"SOCKET",  "--save", "",       "--appendonly",
				"no",      "--dir",  "FOLDER", "--loglevel",
				"warning", NULL };

/* ---- the keys ------------------------------------------------------------------------ */

/* Reads @nr answers "+OK". */
static void read_answers(const struct measure *m, FILE *from, uint32_t nr)
{
	char line[64];

	while (nr--)
		MEASURE_CHECK(m, fgets(line, sizeof(line), from) &&
					 strncmp(line, "+OK", 3) == 0);
}

static void fill(const struct measure *m, uint32_t nr_keys)
{
	int fd = kv_server_connect(m);
	FILE *to = fdopen(fd, "w"), *from = fdopen(dup(fd), "r");
	char value[KV_VALUE_SIZE + 1];
	uint32_t nr_open = 0;

	MEASURE_CHECK(m, to != NULL && from != NULL);
	memset(value, 'x', KV_VALUE_SIZE);
	value[KV_VALUE_SIZE] = '\0';
	for (uint32_t i = 0; i < nr_keys; i++) {
		fprintf(to,
			"*3\r\n$3\r\nSET\r\n$%d\r\nkey:%012u\r\n$%d\r\n%s\r\n",
			KV_KEY_SIZE, i, KV_VALUE_SIZE, value);
		if (++nr_open == 1000) {
			fflush(to);
			read_answers(m, from, nr_open);
			nr_open = 0;
		}
	}
	fflush(to);
	read_answers(m, from, nr_open);
	fclose(to);
	fclose(from);
}

/* ---- the load ------------------------------------------------------------------------ */

/* A line of redis-benchmark --csv: "GET","123456.78",... */
static double per_second(const struct measure *m, const char *test,
			 uint32_t nr_keys)
{
	char command[512], line[256];
	double found = 0;
	FILE *csv;

	snprintf(command, sizeof(command),
		 BENCHMARK " -s %s -c 50 -P 1 -n %d -r %u -d %d -t %s --csv",
		 kv_server.path, m->quick ? 1000 : REQUESTS, nr_keys,
		 KV_VALUE_SIZE, test);
	csv = popen(command, "r");
	MEASURE_CHECK(m, csv != NULL);
	while (fgets(line, sizeof(line), csv)) {
		const char *comma = strchr(line, ',');

		if (strncasecmp(line + 1, test, strlen(test)) == 0 && comma)
			found = atof(comma + 2);
	}
	MEASURE_CHECK(m, pclose(csv) == 0);
	MEASURE_CHECK(m, found > 0);
	return found;
}

static void run_kv_local(const struct measure *m)
{
	uint32_t nr_keys = kv_nr_keys(m);

	kv_server_start(m, server);
	fill(m, nr_keys);
	measure_report("ns", 1e9 / per_second(m, "get", nr_keys));
	measure_report("set_ns", 1e9 / per_second(m, "set", nr_keys));
	kv_server_stop();
}

/* ---- the row `kv` -------------------------------------------------------------------- */

static size_t get(char *text, const uint64_t *key)
{
	static const char head[] = "*2\r\n$3\r\nGET\r\n$16\r\n";
	const size_t size = sizeof(head) - 1;

	memcpy(text, head, size);
	memcpy(text + size, key, KV_KEY_SIZE);
	memcpy(text + size + KV_KEY_SIZE, "\r\n", 2);
	return size + KV_KEY_SIZE + 2;
}

static size_t set(char *text, const uint64_t *key, const void *value)
{
	static const char head[] = "*3\r\n$3\r\nSET\r\n$16\r\n";
	static const char middle[] = "\r\n$100\r\n";
	char *at = text;

	memcpy(at, head, sizeof(head) - 1);
	at += sizeof(head) - 1;
	memcpy(at, key, KV_KEY_SIZE);
	at += KV_KEY_SIZE;
	memcpy(at, middle, sizeof(middle) - 1);
	at += sizeof(middle) - 1;
	memcpy(at, value, KV_VALUE_SIZE);
	at += KV_VALUE_SIZE;
	memcpy(at, "\r\n", 2);
	return (size_t)(at - text) + 2;
}

static void run_kv(const struct measure *m)
{
	static struct kv_protocol protocol = {
		.get = get,
		.set = set,
		.got = 6 + KV_VALUE_SIZE + 2,
		.value_at = 6,
		.found = "$100\r\n",
		.stored = "+OK\r\n",
	};

	kv_server_run(m, server, &protocol);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "kv-local", run_kv_local },
		{ "kv", run_kv },
	};

	if (access(SERVER, X_OK) != 0 || access(BENCHMARK, X_OK) != 0) {
		fprintf(stderr, "%s: needs redis\n", argc > 1 ? argv[1] : "kv");
		return MEASURE_SKIP;
	}
	return measure_main(argc, argv, rows, 2);
}
