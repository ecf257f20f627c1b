/* SPDX-License-Identifier: MIT */
/*
 * payload.h - plain data that goes from one thread to another.
 *
 * The sender writes the payload before the hand-over, the receiver reads the payload
 * afterwards.  The payload is plain memory, so that a missing edge between the two
 * is a race.  The write and the read are scheduling points, so that a read that is
 * too early is seen in every memory.
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
