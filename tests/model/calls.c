/* SPDX-License-Identifier: MIT */
/*
 * calls.c - what a model thread calls becomes a posted operation.
 */
#include "engine.h"
#include "model_atomic.h"

#include <string.h>

#define HERE(name) __FILE__ ":" MODEL_TEXT(__LINE__) "\0" name "\0"

static struct op op_at(enum op_kind kind, const struct model_at *at)
{
	return (struct op){ .kind = (uint8_t)kind,
			    .addr = (char *)(uintptr_t)at->addr,
			    .site = at->site,
			    .size = at->size,
			    .order = at->order,
			    .failure = at->failure };
}

uint64_t model_load(struct model_at at)
{
	struct op op = op_at(OP_LOAD, &at);

	return machine_post(&op);
}

void model_store(struct model_at at, uint64_t value)
{
	struct op op = op_at(OP_STORE, &at);

	op.value = value;
	machine_post(&op);
}

uint64_t model_rmw(struct model_at at, enum model_rmw how, uint64_t value)
{
	struct op op = op_at(OP_RMW, &at);

	op.how = (uint8_t)how;
	op.value = value;
	return machine_post(&op);
}

bool model_cas(struct model_at at, void *expected, uint64_t desired)
{
	struct op op = op_at(OP_CAS, &at);
	uint64_t found;

	memcpy(&op.expected, expected, at.size);
	op.value = desired;
	found = machine_post(&op);
	if (found == op.expected)
		return true;
	memcpy(expected, &found, at.size);
	return false;
}

void model_spin(struct model_at at)
{
	struct op op = op_at(OP_SPIN, &at);

	machine_post(&op);
}

int model_thread(void)
{
	return engine.current;
}

int model_choose(int n)
{
	struct op op = { .kind = OP_CHOOSE,
			 .value = (uint64_t)n,
			 .site = HERE("model_choose") };

	return (int)machine_post(&op);
}

void model_access_at(const volatile void *p, const char *site)
{
	struct op op = { .kind = OP_ACCESS,
			 .addr = (char *)(uintptr_t)p,
			 .size = 1,
			 .site = site };

	machine_post(&op);
}

void model_advance(uint64_t ns)
{
	struct op op = { .kind = OP_ADVANCE,
			 .value = ns,
			 .site = HERE("model_advance") };

	machine_post(&op);
}
