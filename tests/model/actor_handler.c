/* SPDX-License-Identifier: MIT */
/*
 * actor_handler.c - src/actor/command/handler.c: a reader that looks for a handler
 * during a replacement finds the old handler, the new handler, or none; never a part
 * of each.
 *
 * Complete for a reader and a thread that removes a handler and registers a new one;
 * for two threads that register in a chunk that does not exist yet, and a reader.
 * The models could miss: a reader that is held up over 2^63 replacements, after
 * which the version has its old value again.
 */
#include "explorer.h"

#include "actor/command/handler.c"
#include "os/map.h"

#include <string.h>

#define COMMAND 3u
#define OLD 1
#define NEW 2

static int payload[3]; /* of the handlers, written before the registration */
static struct ledger {
	int found, registered, existed, taken;
	bool no_memory;
} ledger;

void *(os_map)(size_t size)
{
	return ledger.no_memory ? NULL : model_alloc(size);
}

void os_unmap(void *memory, size_t size)
{
	(void)size;
	model_free(memory);
}

static int old_handler(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	return OLD;
}

static int new_handler(const struct sley_command *command, void *arg)
{
	(void)command;
	(void)arg;
	return NEW;
}

static sley_handler *const handlers[] = { NULL, old_handler, new_handler };

static void setup_empty(void)
{
	lock = (struct spinlock){ 0 };
	chunks[0] = NULL;
	memset(payload, 0, sizeof(payload));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&lock.word);
	model_name(&chunks[0], "chunk");
}

static void handle(int which)
{
	struct sley_handler_options options = { .size = sizeof(options),
						.timeout_ns = (uint64_t)which };
	int err;

	payload[which] = which;
	err = sley_command_handle(COMMAND, handlers[which], &payload[which],
				  &options);
	MODEL_CHECK(err == 0 || err == -EEXIST);
	ledger.registered += err == 0;
	ledger.existed += err == -EEXIST;
}

static void setup(void)
{
	setup_empty();
	handle(OLD);
}

static void look(int id)
{
	struct handler handler;
	int which;

	(void)id;
	if (!handler_find(COMMAND, &handler))
		return;
	ledger.found++;
	which = handler.fn(NULL, NULL);
	MODEL_CHECK(handler.arg == &payload[which]);
	MODEL_CHECK(handler.timeout_ns == (uint64_t)which);
	MODEL_CHECK(*(int *)handler.arg == which);
}

static void replace(int id)
{
	(void)id;
	MODEL_CHECK(sley_command_unhandle(COMMAND) == 0);
	handle(NEW);
}

static void take_away(int id)
{
	(void)id;
	ledger.taken += sley_command_unhandle(COMMAND) == 0;
}

static void handle_old(int id)
{
	(void)id;
	handle(OLD);
}

static void handle_new(int id)
{
	(void)id;
	handle(NEW);
}

static void is_there(void)
{
	int found = ledger.found;

	look(-1);
	MODEL_CHECK(ledger.found == found + 1);
	model_free(chunks[0]);
}

static void one_was_first(void)
{
	MODEL_CHECK(ledger.registered == 1 && ledger.existed == 1);
	is_there();
}

static void one_took_it(void)
{
	struct handler handler;

	MODEL_CHECK(ledger.taken == 1);
	MODEL_CHECK(!handler_find(COMMAND, &handler));
	model_free(chunks[0]);
}

MODEL(a_handler_is_found_whole, .setup = setup, .threads = { look, replace },
      .finish = is_there);

MODEL(two_readers, .setup = setup, .threads = { look, look, replace },
      .finish = is_there);

MODEL(one_of_two_registers, .setup = setup_empty,
      .threads = { handle_old, handle_new }, .finish = one_was_first);

MODEL(looking_while_the_first_is_registered, .setup = setup_empty,
      .threads = { look, handle_old }, .finish = is_there);

MODEL(a_handler_is_taken_away_once, .setup = setup,
      .threads = { take_away, take_away }, .finish = one_took_it);

/* ---- what is refused ------------------------------------------------------------------ */

static int try(uint32_t command, sley_handler *handler, uint64_t size)
{
	struct sley_handler_options options = { .size = size };

	return sley_command_handle(command, handler, NULL, &options);
}

static void try_wrongly(int id)
{
	const uint64_t size = sizeof(struct sley_handler_options);

	(void)id;
	MODEL_CHECK(sley_command_unhandle(COMMAND) == -ENOENT);
	MODEL_CHECK(try(SLEY_COMMAND_MAX + 1, old_handler, size) == -EINVAL);
	MODEL_CHECK(try(COMMAND, NULL, size) == -EINVAL);
	MODEL_CHECK(try(COMMAND, old_handler, 1) == -EINVAL);
	ledger.no_memory = true;
	MODEL_CHECK(try(COMMAND, old_handler, size) == -ENOMEM);
	ledger.no_memory = false;
	MODEL_CHECK(!chunks[0]);
	handle(OLD);
}

MODEL(what_is_wrong_is_refused, .setup = setup_empty,
      .threads = { try_wrongly }, .finish = is_there);
