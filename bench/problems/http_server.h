/* SPDX-License-Identifier: MIT */
/*
 * http_server.h - the server of a row `http-...`: a child process, and what it costs.
 *
 * A server is the child and the child's own children: nginx has a master and a worker.
 * CPU time, memory and switches are sums over all of their threads.
 */
#ifndef BENCH_PROBLEMS_HTTP_SERVER_H
#define BENCH_PROBLEMS_HTTP_SERVER_H

#include "../measure.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HTTP_BODY "Hello, World!"

struct http_server {
	const struct measure *m;
	pid_t pid;
	int port;
	char dir[64]; /* its own, with the files that it serves */
};

/* Serves in the child process, and returns if that is impossible. */
typedef void http_serve_fn(const struct http_server *server);

/* ---- start and stop ----------------------------------------------------------------- */

static inline struct sockaddr_in http_address(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)port);
	return address;
}

/* A port that is free now. */
static inline int http_free_port(const struct measure *m)
{
	struct sockaddr_in address = http_address(0);
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MEASURE_CHECK(m, fd >= 0 &&
				 bind(fd, (struct sockaddr *)&address,
				      length) == 0 &&
				 getsockname(fd, (struct sockaddr *)&address,
					     &length) == 0);
	close(fd);
	return ntohs(address.sin_port);
}

/* A connection to the server, or -1. */
static inline int http_connect(const struct http_server *server)
{
	struct sockaddr_in address = http_address(server->port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static inline bool http_answers(const struct http_server *server)
{
	int fd = http_connect(server);

	close(fd);
	return fd >= 0;
}

/* A listener for a server that has none of its own. */
static inline int http_listen(const struct http_server *server)
{
	struct sockaddr_in address = http_address(server->port);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	MEASURE_CHECK(server->m, bind(fd, (struct sockaddr *)&address,
				      sizeof(address)) == 0 &&
					 listen(fd, 1024) == 0);
	return fd;
}

/*
 * Makes the folder of the server.  All may read it, since a server that root starts
 * may give up its rights.
 */
static inline void http_prepare(struct http_server *server,
				const struct measure *m)
{
	*server = (struct http_server){ .m = m, .port = http_free_port(m) };
	snprintf(server->dir, sizeof(server->dir), "/tmp/sley-bench.XXXXXX");
	MEASURE_CHECK(m, mkdtemp(server->dir) != NULL &&
				 chmod(server->dir, 0755) == 0);
}

/* Starts @serve in a child, on CPU @cpu unless that is -1; waits until it answers. */
static inline void http_start(struct http_server *server, http_serve_fn *serve,
			      int cpu)
{
	fflush(stdout);
	server->pid = fork();
	MEASURE_CHECK(server->m, server->pid >= 0);
	if (!server->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cpu >= 0)
			measure_pin(cpu);
		serve(server);
		_exit(1);
	}
	for (int i = 0; i < 1000 && !http_answers(server); i++)
		measure_sleep_until(measure_now() + 10000000);
	MEASURE_CHECK(server->m, http_answers(server));
}

static inline void http_end(const struct http_server *server)
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

static inline void http_stop(const struct http_server *server)
{
	char command[96];

	http_end(server);
	snprintf(command, sizeof(command), "rm -r %s", server->dir);
	MEASURE_CHECK(server->m, system(command) == 0);
}

/* ---- what it costs ------------------------------------------------------------------- */

/* The number behind @name in the file "/proc/@pid/@file", or 0. */
static inline uint64_t http_proc(pid_t pid, const char *file, const char *name)
{
	unsigned long long value = 0;
	size_t length = strlen(name);
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/%.200s", (int)pid, file);
	f = fopen(line, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, length) == 0) {
			value = strtoull(line + length, NULL, 10);
			break;
		}
	}
	fclose(f);
	return value;
}

/* The sum of that number over all threads of @pid. */
static inline uint64_t http_proc_threads(pid_t pid, const char *file,
					 const char *name)
{
	char path[300];
	uint64_t sum = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		/* Behind "..", the first thread would be counted once more. */
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "task/%.20s/%s", entry->d_name,
			 file);
		sum += http_proc(pid, path, name);
	}
	if (dir)
		closedir(dir);
	return sum;
}

/* The time that all threads ran, in nanoseconds. */
static inline uint64_t http_cpu_of(pid_t pid)
{
	return http_proc_threads(pid, "schedstat", "");
}

/* How often a thread went to sleep. */
static inline uint64_t http_sleeps_of(pid_t pid)
{
	return http_proc_threads(pid, "status", "voluntary_ctxt_switches:");
}

/* Resident bytes, counted page by page: the counters of the kernel lag behind. */
static inline uint64_t http_resident_of(pid_t pid)
{
	return http_proc(pid, "smaps_rollup", "Rss:") * 1024;
}

static inline pid_t http_parent_of(pid_t pid)
{
	return (pid_t)http_proc(pid, "status", "PPid:");
}

/* The sum of @of over the child and the child's children. */
static inline uint64_t http_sum(const struct http_server *server,
				uint64_t (*of)(pid_t pid))
{
	uint64_t sum = of(server->pid);
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && http_parent_of(pid) == server->pid)
			sum += of(pid);
	}
	if (dir)
		closedir(dir);
	return sum;
}

#endif
