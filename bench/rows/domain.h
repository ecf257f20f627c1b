/* SPDX-License-Identifier: MIT */
/*
 * domain.h - the domain of the rows `domain-...`: a host in a process of its own, and the
 * way there for a runtime.
 */
#ifndef BENCH_ROWS_DOMAIN_H
#define BENCH_ROWS_DOMAIN_H

#include "rows.h"

#include "../problems/crowd.h"

#include <sley/domain.h>
#include <sley/domain_host.h>

struct domain {
	const struct measure *m;
	uint32_t nr_cores; /* 0: as many as there are CPUs                     */
	bool pinned; /* the host is on CPU 1, too                        */
	/* Of domain_start(). */
	pid_t pid;
	int life; /* a pipe: its end ends the host                            */
	char dir[64];
	char path[96]; /* of the socket: the domain                           */
};

static inline void domain_host(const struct domain *domain, int ready)
{
	struct sley_domain_host *host;
	char byte = 0;

	if (domain->pinned)
		measure_pin(1);
	MEASURE_CHECK(
		domain->m,
		sley_domain_host_create(
			&host,
			SLEY_DOMAIN_HOST_OPTIONS(.name = domain->path,
						 .nr_cores =
							 domain->nr_cores)) ==
			0);
	MEASURE_CHECK(domain->m, write(ready, &byte, 1) == 1);
	MEASURE_CHECK(domain->m, read(domain->life, &byte, 1) == 0);
	sley_domain_host_destroy(host);
	_exit(0);
}

static inline void domain_start(struct domain *domain)
{
	const struct measure *m = domain->m;
	int life[2], ready[2];
	char byte;

	snprintf(domain->dir, sizeof(domain->dir), "/tmp/sley-bench.XXXXXX");
	MEASURE_CHECK(m, mkdtemp(domain->dir) != NULL);
	MEASURE_CHECK(m, pipe(life) == 0 && pipe(ready) == 0);
	snprintf(domain->path, sizeof(domain->path), "%s/domain", domain->dir);
	domain->pid = crowd_fork(m);
	if (domain->pid == 0) {
		close(life[1]);
		domain->life = life[0];
		domain_host(domain, ready[1]);
	}
	domain->life = life[1];
	close(life[0]);
	close(ready[1]);
	MEASURE_CHECK(m, read(ready[0], &byte, 1) == 1);
	close(ready[0]);
}

/* After the end of all members. */
static inline void domain_stop(struct domain *domain)
{
	close(domain->life);
	crowd_join(domain->m, domain->pid);
	/* The host has removed its socket. */
	MEASURE_CHECK(domain->m, rmdir(domain->dir) == 0);
}

static inline struct sley_domain_info domain_info(const struct measure *m,
						  struct sley *rt)
{
	struct sley_domain_info info = { .size = sizeof(info) };

	MEASURE_CHECK(m, sley_domain_info(rt, &info) == 0);
	return info;
}

/* Until @rt has heard of so many members, itself included. */
static inline void domain_await_members(const struct measure *m,
					struct sley *rt, uint32_t nr)
{
	uint64_t start = measure_now();

	while (domain_info(m, rt).nr_members < nr) {
		MEASURE_CHECK(m, measure_now() - start < 10000000000u);
		usleep(100);
	}
}

/* A runtime of @workers that is a member, and whose tasks may move. */
static inline struct sley *domain_member(const struct domain *domain,
					 int workers, bool strict)
{
	struct sley *rt;

	MEASURE_CHECK(domain->m,
		      sley_create(&rt, SLEY_CONFIG(.workers = workers,
						   .migratable = true)) == 0);
	MEASURE_CHECK(domain->m, sley_domain_set_strict(rt, strict) == 0);
	MEASURE_CHECK(domain->m, sley_domain_join(rt, domain->path) == 0);
	return rt;
}

#endif
