/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what the probes of the doctor find.
 *
 * A probe tries the thing itself where it can, and reads settings only to say
 * why it is as it is.
 */
#ifndef SLEY_PROGRAM_DOCTOR_H
#define SLEY_PROGRAM_DOCTOR_H

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

#endif
