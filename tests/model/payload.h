/* SPDX-License-Identifier: MIT */
/*
 * payload.h - plain data that goes from one thread to another.
 *
 * Whoever hands something over writes it before, whoever gets it reads it
 * afterwards.  It is plain memory, so that a missing edge between the two is a
 * race; and both are scheduling points, so that who reads too early is seen in
 * every memory.
 */
#ifndef SLEY_TESTS_MODEL_PAYLOAD_H
#define SLEY_TESTS_MODEL_PAYLOAD_H

#include "explorer.h"

struct payload {
	int value;
};

#define PAYLOAD 7

static inline void payload_write(struct payload *payload)
{
	model_access(&payload->value);
	payload->value = PAYLOAD;
}

static inline void payload_check(const struct payload *payload)
{
	model_access(&payload->value);
	MODEL_CHECK(payload->value == PAYLOAD);
}

#endif
