/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - the rows about client processes: a server in a process of its own, and a
 * crowd of clients, each a process, too, that begin at the same moment.
 *
 * With one client the server is on CPU 1, and the client on CPU 0: the rows are about two
 * processes that run at the same time.  With more clients the kernel places all of them.
 */
#ifndef BENCH_PROBLEMS_CROWD_H
#define BENCH_PROBLEMS_CROWD_H

#include "../measure.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CROWD_MAX 64

/* In memory that all processes map. */
struct crowd {
	uint32_t ready; /* members that wait for .go                         */
	uint32_t go;
	uint64_t end_ns[CROWD_MAX];
};

struct crowd_member {
	const struct measure *m;
	struct crowd *crowd;
	void *arg;
	int nth;
	bool began;
};

/* Gets ready, calls crowd_begin(), works; returns, or has called crowd_end(). */
typedef void crowd_fn(struct crowd_member *member);

/* Memory that this process and its children see, all zero. */
static inline void *crowd_shared(const struct measure *m, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MEASURE_CHECK(m, memory != MAP_FAILED);
	return memory;
}

static inline void crowd_pin(const struct measure *m, int cpu)
{
	if (m->workers == 1)
		measure_pin(cpu);
}

/* Ends the program on a machine with one CPU. */
static inline void crowd_needs_two_cpus(void)
{
	if (CPU_COUNT(measure_cpus()) < 2) {
		fprintf(stderr, "needs 2 CPUs\n");
		exit(MEASURE_SKIP);
	}
}

/* A process that ends with this one at the latest; 0 in the new process. */
static inline pid_t crowd_fork(const struct measure *m)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MEASURE_CHECK(m, pid >= 0);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static inline void crowd_join(const struct measure *m, pid_t pid)
{
	int status;

	MEASURE_CHECK(m, waitpid(pid, &status, 0) == pid && status == 0);
}

/* Runs @serve(@arg) in a process beside the clients. */
static inline pid_t crowd_serve(const struct measure *m, void (*serve)(void *),
				void *arg)
{
	pid_t pid = crowd_fork(m);

	if (pid)
		return pid;
	crowd_pin(m, 1);
	serve(arg);
	_exit(0);
}

/* Waits for all members. */
static inline void crowd_begin(struct crowd_member *member)
{
	struct crowd *crowd = member->crowd;

	member->began = true;
	__atomic_fetch_add(&crowd->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&crowd->go, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* The work is done; what follows is not timed. */
static inline void crowd_end(struct crowd_member *member)
{
	uint64_t *end_ns = &member->crowd->end_ns[member->nth];

	if (*end_ns == 0)
		*end_ns = measure_now();
}

static inline void crowd_member_run(struct crowd_member *member, crowd_fn *run)
{
	run(member);
	crowd_end(member);
	MEASURE_CHECK(member->m, member->began);
	_exit(0);
}

/*
 * Runs m->workers members where the kernel places them: the time from their common begin
 * to the last end.
 */
static inline uint64_t crowd_run_unpinned(const struct measure *m,
					  crowd_fn *run, void *arg)
{
	struct crowd *crowd = crowd_shared(m, sizeof(*crowd));
	pid_t pids[CROWD_MAX];
	uint64_t start, last = 0;

	MEASURE_CHECK(m, m->workers <= CROWD_MAX);
	for (int i = 0; i < m->workers; i++) {
		struct crowd_member member = { m, crowd, arg, i, false };

		pids[i] = crowd_fork(m);
		if (!pids[i])
			crowd_member_run(&member, run);
	}
	measure_await(m, &crowd->ready, (uint64_t)m->workers);
	start = measure_now();
	__atomic_store_n(&crowd->go, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < m->workers; i++) {
		crowd_join(m, pids[i]);
		if (crowd->end_ns[i] > last)
			last = crowd->end_ns[i];
	}
	munmap(crowd, sizeof(*crowd));
	return last - start;
}

/* The same; a single member is on CPU 0, and so is the caller from now on. */
static inline uint64_t crowd_run(const struct measure *m, crowd_fn *run,
				 void *arg)
{
	crowd_pin(m, 0);
	return crowd_run_unpinned(m, run, arg);
}

#endif
