/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - the probes of the doctor, and their findings.
 *
 * A probe tries the feature itself where possible.  A probe reads settings only
 * to explain the result.
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
	char value[96];   /* the result                         */
	char effect[200]; /* not ok: the consequence for sley   */
	char fix[200];    /* not ok: the command that helps     */
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

/* The first line of a file; false: the file cannot be read. */
bool read_line(const char *path, char *line, int size);

/* The number in a file; -1: no number can be read. */
long read_number(const char *path);

#define NO_LIMIT UINT64_MAX

/*
 * Returns the limit of the process for @resource of setrlimit(2), and writes the
 * limit to @out in units of @unit.
 */
uint64_t read_limit(struct finding *out, int resource, const char *name,
		    uint64_t unit);

/*
 * The smallest number in a file of the process's cgroup and of the cgroups above:
 * the file @v2 of cgroup v2, and the file @v1 of the @controller of cgroup v1.
 */
uint64_t read_cgroup(const char *controller, const char *v2, const char *v1);

/* doctor_cpus.c */
void probe_cpus(struct finding *out);
void probe_placement(struct finding *out);
void probe_priority(struct finding *out);
void probe_threads(struct finding *out);
void probe_thread_stack(struct finding *out);

/* doctor_domain.c */
void probe_slices(struct finding *out);
void probe_lowering(struct finding *out);
void probe_many_words(struct finding *out);

/* doctor_io.c */
void probe_io_uring(struct finding *out);
void probe_io(struct finding *out);

/* doctor_memory.c */
void probe_guards(struct finding *out);
void probe_mappings(struct finding *out);
void probe_overcommit(struct finding *out);
void probe_stacks(struct finding *out);
void probe_huge_pages(struct finding *out);
void probe_address_space(struct finding *out);
void probe_memory(struct finding *out);

#endif
