/* SPDX-License-Identifier: MIT */
/*
 * http_load.h - rows `http-...`: a server in a child process, wrk as the load, and the
 * CPU time of the server for each request.
 *
 * The server runs on CPU 0, wrk on CPU 1: with one core each, wrk is the limit of
 * requests a second, so the CPU time of the server is the figure that separates
 * servers.  It is the sum over all threads of the child and of the child's children.
 *
 * All servers answer with the same body and the same header fields.
 */
#ifndef BENCH_PROBLEMS_HTTP_LOAD_H
#define BENCH_PROBLEMS_HTTP_LOAD_H

#include "../measure.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define HTTP_BODY "Hello, World!"
#define HTTP_CONNECTIONS 64
#define HTTP_PIPELINED 16

/* The path of the script that makes wrk pipeline; set by the build. */
#ifndef HTTP_PIPELINE_SCRIPT
#define HTTP_PIPELINE_SCRIPT "pipeline.lua"
#endif

/* ---- the server ------------------------------------------------------------------- */

struct http_server {
	const struct measure *m;
	pid_t pid;
	int port;
};

/* A port that is free now. */
static inline int http_free_port(const struct measure *m)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MEASURE_CHECK(m, fd >= 0 &&
				 bind(fd, (struct sockaddr *)&address,
				      length) == 0 &&
				 getsockname(fd, (struct sockaddr *)&address,
					     &length) == 0);
	close(fd);
	return ntohs(address.sin_port);
}

static inline bool http_answers(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)port);
	answers = connect(fd, (struct sockaddr *)&address, sizeof(address)) ==
		  0;
	close(fd);
	return answers;
}

/* Starts @serve(@port, @m) in a child, on CPU 0, and waits until it answers. */
static inline void http_start(struct http_server *server,
			      const struct measure *m,
			      void (*serve)(int port, const struct measure *m))
{
	*server = (struct http_server){ .m = m, .port = http_free_port(m) };
	fflush(stdout);
	server->pid = fork();
	MEASURE_CHECK(m, server->pid >= 0);
	if (!server->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		measure_pin(0);
		serve(server->port, m);
		_exit(1);
	}
	for (int i = 0; i < 1000 && !http_answers(server->port); i++)
		measure_sleep_until(measure_now() + 10000000);
	MEASURE_CHECK(m, http_answers(server->port));
}

static inline void http_stop(struct http_server *server)
{
	kill(server->pid, SIGTERM);
	for (int i = 0; i < 200; i++) {
		if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
			return;
		measure_sleep_until(measure_now() + 10000000);
	}
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}

/* ---- its CPU time ------------------------------------------------------------------- */

/* The time that all threads of @pid ran, in nanoseconds. */
static inline uint64_t http_cpu_of(pid_t pid)
{
	char path[300];
	uint64_t sum = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned long long ns = 0;
		FILE *file;

		/* Behind "..", the first thread would be counted once more. */
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat",
			 (int)pid, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%llu", &ns) == 1)
			sum += ns;
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static inline pid_t http_parent_of(pid_t pid)
{
	char path[64];
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d %*s %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

static inline uint64_t http_cpu(const struct http_server *server)
{
	uint64_t sum = http_cpu_of(server->pid);
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && http_parent_of(pid) == server->pid)
			sum += http_cpu_of(pid);
	}
	if (dir)
		closedir(dir);
	return sum;
}

/* ---- the load ------------------------------------------------------------------------ */

struct http_figures {
	double requests;
	double per_second;
	double p99_ns;
	double errors;
};

/* "1.23ms" in nanoseconds. */
static inline double http_duration(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);

	if (strncmp(unit, "us", 2) == 0)
		return value * 1e3;
	return value * (strncmp(unit, "ms", 2) == 0 ? 1e6 : 1e9);
}

static inline void http_read_wrk(FILE *wrk, struct http_figures *figures)
{
	char line[256];

	while (fgets(line, sizeof(line), wrk)) {
		const char *at = line + strspn(line, " ");

		if (strstr(at, "requests in"))
			figures->requests = atof(at);
		else if (strncmp(at, "Requests/sec:", 13) == 0)
			figures->per_second = atof(at + 13);
		else if (strncmp(at, "99%", 3) == 0)
			figures->p99_ns =
				http_duration(at + 3 + strspn(at + 3, " "));
		else if (strncmp(at, "Non-2xx", 7) == 0 ||
			 strncmp(at, "Socket errors", 13) == 0)
			figures->errors = 1;
	}
}

/* Lets wrk ask for @path, and waits for it.  @script: a script for wrk, or NULL. */
static inline void http_load(const struct http_server *server, int connections,
			     int seconds, const char *script, const char *path,
			     struct http_figures *figures)
{
	char command[512];
	FILE *wrk;

	*figures = (struct http_figures){ 0 };
	snprintf(command, sizeof(command),
		 "taskset -c 1 wrk -t1 -c%d -d%ds --latency %s %s "
		 "http://127.0.0.1:%d%s 2>&1",
		 connections, seconds, script ? "-s" : "", script ? script : "",
		 server->port, path);
	wrk = popen(command, "r");
	MEASURE_CHECK(server->m, wrk != NULL);
	http_read_wrk(wrk, figures);
	MEASURE_CHECK(server->m, pclose(wrk) == 0);
	MEASURE_CHECK(server->m, figures->requests > 0 && !figures->errors);
}

static inline void http_need_wrk(const struct measure *m)
{
	if (system("command -v wrk >/dev/null 2>&1") != 0) {
		fprintf(stderr, "%s: needs wrk\n", m->row);
		exit(MEASURE_SKIP);
	}
}

/* The row http-hello, against @serve: both kinds of load. */
static inline void http_hello(const struct measure *m,
			      void (*serve)(int port, const struct measure *m))
{
	int seconds = m->quick ? 1 : 3;
	struct http_figures figures;
	struct http_server server;
	uint64_t cpu, used;

	http_need_wrk(m);
	http_start(&server, m, serve);
	if (!m->quick) /* warm */
		http_load(&server, HTTP_CONNECTIONS, 1, NULL, "/", &figures);
	cpu = http_cpu(&server);
	http_load(&server, HTTP_CONNECTIONS, seconds, NULL, "/", &figures);
	used = http_cpu(&server) - cpu;
	measure_report("ns", (double)used / figures.requests);
	measure_report("wall_ns", 1e9 / figures.per_second);
	/* One CPU: a server cannot use more time than passes. */
	MEASURE_CHECK(m, (double)used / figures.requests <
				 1.1 * 1e9 / figures.per_second);
	measure_report("p99_ns", figures.p99_ns);
	cpu = http_cpu(&server);
	http_load(&server, HTTP_CONNECTIONS, seconds, HTTP_PIPELINE_SCRIPT, "/",
		  &figures);
	measure_report("pipelined_ns",
		       (double)(http_cpu(&server) - cpu) / figures.requests);
	http_stop(&server);
}

#endif
