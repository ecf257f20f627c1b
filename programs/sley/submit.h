/* SPDX-License-Identifier: MIT */
/*
 * submit.h - a request from the command line.
 */
#ifndef SLEY_PROGRAM_SUBMIT_H
#define SLEY_PROGRAM_SUBMIT_H

#include "remote.h"

struct submit {
	struct remote remote;
	/* As they were given; or NULL. */
	const char *query, *data_text, *data_file, *priority, *timeout, *room,
		*ttl;
	bool forget, raw;

	struct sley_request_spec spec;
	bool by_number;  /* the method                                        */
	const char *key; /* of a store; or NULL                               */
	char module[64]; /* of the pool; "": not known                        */
	char *data;
	size_t data_size;
	size_t out_size;
	uint64_t ttl_ms;
};

/* Sends .spec, and prints the answer.  The status. */
int submit_send(struct submit *submit, const char *pool);

void submit_print(const struct submit *submit, int code, const char *bytes,
		  size_t size);

/* The same for a store: the words behind the method are key and value. */
int submit_kv(struct submit *submit, const struct words *words);

#endif
