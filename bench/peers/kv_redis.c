/* SPDX-License-Identifier: MIT */
/*
 * kv_redis.c - the peer Redis of row `kv-local`: a server without files, on a Unix socket,
 * loaded by redis-benchmark with 50 connections, one request at a time each.
 *
 * The keys are those of redis-benchmark, "key:000000000042", which have 16 bytes, too.
 * `ns` is a second over the requests of a second.  The mixtures after Zipf are left out:
 * redis-benchmark does not have them.
 */
#include "../problems/kv.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define SERVER "/usr/bin/redis-server"
#define BENCHMARK "/usr/bin/redis-benchmark"
#define REQUESTS 300000

static struct redis {
	pid_t pid;
	char dir[64];
	char path[96]; /* of the socket */
} redis;

/* ---- the server ---------------------------------------------------------------------- */

static void start(const struct measure *m)
{
	snprintf(redis.dir, sizeof(redis.dir), "/tmp/sley-bench.XXXXXX");
	MEASURE_CHECK(m, mkdtemp(redis.dir) != NULL);
	snprintf(redis.path, sizeof(redis.path), "%s/socket", redis.dir);
	redis.pid = fork();
	if (redis.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(SERVER, "redis-server", "--port", "0", "--unixsocket",
		      redis.path, "--save", "", "--appendonly", "no", "--dir",
		      redis.dir, "--loglevel", "warning", (char *)NULL);
		_exit(1);
	}
	MEASURE_CHECK(m, redis.pid > 0);
}

static void stop(void)
{
	kill(redis.pid, SIGKILL);
	waitpid(redis.pid, NULL, 0);
	unlink(redis.path);
	rmdir(redis.dir);
}

/* A connection to the server, as soon as it answers. */
static int connect_soon(const struct measure *m)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t start_ns = measure_now();

	memcpy(address.sun_path, redis.path, sizeof(redis.path));
	for (;;) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		MEASURE_CHECK(m, fd >= 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ==
		    0)
			return fd;
		close(fd);
		MEASURE_CHECK(m, measure_now() - start_ns < 10000000000u);
		usleep(1000);
	}
}

/* ---- the keys ------------------------------------------------------------------------ */

/* Reads @nr answers "+OK". */
static void read_answers(const struct measure *m, FILE *server, uint32_t nr)
{
	char line[64];

	while (nr--)
		MEASURE_CHECK(m, fgets(line, sizeof(line), server) &&
					 strncmp(line, "+OK", 3) == 0);
}

static void fill(const struct measure *m, uint32_t nr_keys)
{
	int fd = connect_soon(m);
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
		 redis.path, m->quick ? 1000 : REQUESTS, nr_keys, KV_VALUE_SIZE,
		 test);
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
	uint32_t nr_keys = (uint32_t)measure_size(m, KV_KEYS);

	start(m);
	fill(m, nr_keys);
	measure_report("ns", 1e9 / per_second(m, "get", nr_keys));
	measure_report("set_ns", 1e9 / per_second(m, "set", nr_keys));
	stop();
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "kv-local", run_kv_local },
	};

	if (access(SERVER, X_OK) != 0 || access(BENCHMARK, X_OK) != 0) {
		fprintf(stderr, "kv-local: needs redis\n");
		return MEASURE_SKIP;
	}
	return measure_main(argc, argv, rows, 1);
}
