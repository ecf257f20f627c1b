/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - a daemon in a process of its own, for tests of clients: started, stopped,
 * killed and started again on request.
 *
 * The *keeper* is a process without threads, forked first; it forks the daemons.  All of
 * them share a page with the test, so that methods can tell what was done, whichever
 * daemon did it.
 */
#ifndef SLEY_TESTS_CONFORMANCE_IPC_KEEPER_H
#define SLEY_TESTS_CONFORMANCE_IPC_KEEPER_H

#include "conformance/bound.h"
#include "conformance/eventually.h"

#include <sley/client.h>
#include <sley/server.h>

#define KEEPER_ITEMS 65536
#define KEEPER_SEGMENTS (512ull << 20)

/* The methods of the module "work", of which the pool "work" is made. */
enum work_method {
	WORK_ECHO,  /* answers with its IN part                             */
	WORK_COUNT, /* the uint32_t of its IN part: counts a run of it      */
	WORK_HOLD,  /* the same, and waits until the gate is open           */
	WORK_FAIL,  /* returns the int of its IN part                       */
	WORK_FILL,  /* fills OUT with the byte that all of IN must have     */
	WORK_SHORT, /* as WORK_ECHO, and short                              */
	NR_WORKS,
};

/* Shared with the daemons. */
struct keeper_page {
	atomic_uint begun[KEEPER_ITEMS]; /* by item */
	atomic_uint ended[KEEPER_ITEMS];
	atomic_uint cancelled;
	atomic_bool open; /* the gate */
};

struct keeper {
	int pid;
	int commands, replies;
	char folder[64];
	char path[80];
	struct keeper_page *page;
};

extern const struct sley_module work_module;

/*
 * For the keepers that begin afterwards: their daemons have one module more, with a pool of
 * its name; and so many workers, 2 at first.
 */
void keepers_learn(const struct sley_module *module);
void keepers_have_workers(int workers);

/* With a daemon that runs. */
void keeper_begin(struct keeper *keeper);
void keeper_end(struct keeper *keeper);

/* Each of these returns when it is done. */
void keeper_start(struct keeper *keeper);  /* the next daemon              */
void keeper_kill(struct keeper *keeper);   /* SIGKILL                      */
void keeper_stop(struct keeper *keeper);   /* in phases, as it should      */
void keeper_freeze(struct keeper *keeper); /* SIGSTOP                     */
void keeper_thaw(struct keeper *keeper);

/* ---- clients -------------------------------------------------------------------------- */

/* Options of a client of @keeper, which says nothing. */
struct sley_client_options quiet_options(const struct keeper *keeper);

struct sley_client *client_with(const struct sley_client_options *options);
struct sley_client *client_open(const struct keeper *keeper);
struct sley_pool *work_pool(struct sley_client *client);
void client_close(struct sley_client *client, struct sley_pool *pool);
struct sley_client_info client_info(struct sley_client *client);

static inline unsigned int keeper_begun(const struct keeper *keeper,
					unsigned int item)
{
	return atomic_load(&keeper->page->begun[item]);
}

static inline unsigned int keeper_ended(const struct keeper *keeper,
					unsigned int item)
{
	return atomic_load(&keeper->page->ended[item]);
}

/* A call of WORK_ECHO: its code; the answer is checked. */
int work_echo(struct sley_pool *pool, uint64_t in);

/* A request for an item. */
static inline struct sley_request_spec work_on(enum work_method method,
					       const uint32_t *item)
{
	return *SLEY_REQUEST(.method = method, .in = item,
			     .in_size = sizeof(*item));
}

/*
 * CLIENT_TEST(name) { ... keeper ... }: without a runtime, and as a task of each number of
 * workers, with a daemon that runs.
 */
#define CLIENT_TEST(name_)                                                     \
	static void client_##name_(struct keeper *keeper);                     \
	TEST(name_##_in_a_thread)                                              \
	{                                                                      \
		keeper_run(client_##name_, false);                             \
	}                                                                      \
	TEST_WORKERS(name_##_in_a_task)                                        \
	{                                                                      \
		keeper_run(client_##name_, true);                              \
	}                                                                      \
	static void client_##name_(struct keeper *keeper)

void keeper_run(void (*body)(struct keeper *keeper), bool as_task);

#endif
