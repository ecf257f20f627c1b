/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what the probes of the doctor find.
 *
 * A probe tries the thing itself where it can, and reads settings only to say
 * why it is as it is.
 */
#ifndef SLEY_PROGRAM_DOCTOR_H
#define SLEY_PROGRAM_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

enum verdict {
	VERDICT_OK,
	VERDICT_DEGRADED, /* sley works, but not as well */
	VERDICT_BROKEN,   /* sley cannot work            */
};

struct finding {
	enum verdict verdict;
	char value[96];   /* what was found                         */
	char effect[200]; /* not ok: what is worse because of it    */
	char fix[200];    /* not ok: the command that makes it good */
};

struct probe {
	const char *name;
	void (*run)(struct finding *out);
};

/* Ends with a probe without a name. */
extern const struct probe doctor_probes[];

/* ---- for the probes ------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) void found(struct finding *out,
						 const char *format, ...);
void not_ok(struct finding *out, enum verdict verdict, const char *effect,
	    const char *fix);

/* The first line of a file; false: it cannot be read. */
bool read_line(const char *path, char *line, int size);

/* The number in a file; -1: there is none. */
long read_number(const char *path);

#define NO_LIMIT UINT64_MAX

/* A limit of the process, as setrlimit(2) takes it; says it in units of @unit. */
uint64_t read_limit(struct finding *out, int resource, const char *name,
		    uint64_t unit);

/*
 * The smallest number in a file of the process's cgroup and of those above it:
 * @v2 is the file of cgroup v2, @v1 that of the @controller of v1.
 */
uint64_t read_cgroup(const char *controller, const char *v2, const char *v1);

/* doctor_cpus.c */
void probe_cpus(struct finding *out);
void probe_placement(struct finding *out);
void probe_priority(struct finding *out);
void probe_threads(struct finding *out);
void probe_thread_stack(struct finding *out);

/* doctor_memory.c */
void probe_guards(struct finding *out);
void probe_mappings(struct finding *out);
void probe_overcommit(struct finding *out);
void probe_stacks(struct finding *out);
void probe_huge_pages(struct finding *out);
void probe_address_space(struct finding *out);
void probe_memory(struct finding *out);

#endif
