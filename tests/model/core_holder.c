/* SPDX-License-Identifier: MIT */
/*
 * core_holder.c - holder_has_ended() in src/core/wait/holder.c: a thread that waits for
 * a mutex does not take a holder that has just begun for one that has ended.
 *
 * A task begins on a strand that was idle, and takes the mutex on the inline path,
 * which does not release: that the strand has a task may be seen later than the
 * mutex.  A plain thread meets it there, by the very lines of src/sync/mutex.c; it
 * would complain.  What it peeks at, the kernel reads in a runtime.
 *
 * Complete for one holder and one waiter.  Not seen: memory that is gone.
 */
#include "inline_paths.h"
#include "threads_only.h"

#include "holders.h"

#include "os/map.h"

#include <sley/sync.h>
#include <string.h>

static bool peek(void *out, const void *address, size_t size)
{
	uint64_t word;

	MODEL_CHECK(size == sizeof(word));
	/* relaxed: the kernel orders nothing. */
	word = load_relaxed((const uint64_t *)address);
	memcpy(out, &word, sizeof(word));
	return true;
}

#define os_peek peek
#include "core/wait/holder.c"

static struct sley_mutex mutex;
static struct worker worker;
static struct strand strand;
static struct sley_task task;
static int sum; /* under the mutex */

static void setup(void)
{
	memset(&worker, 0, sizeof(worker));
	memset(&strand, 0, sizeof(strand));
	memset(&mutex, 0, sizeof(mutex));
	memset(&task, 0, sizeof(task));
	sum = 0;
	selves_set(&(struct self){ 0 });
	selves[1].worker = &worker;
	holders_setup(false);
	worker.strand = &strand;
	strand.home = &worker;
	strand.fiber.arg = &strand;
	model_lock_word(&mutex.q.word);
	model_name(&mutex.q.word, "mutex");
	model_name(&strand.task, "task");
}

static void enter_and_leave(int id)
{
	(void)id;
	sley_mutex_lock(&mutex);
	sum++;
	sley_mutex_unlock(&mutex);
}

/* A task does not wait here: that is sync_mutex.c. */
static void begin_and_try(int id)
{
	(void)id;
	strand_set_task(&strand, &task);
	if (!sley_mutex_try_lock(&mutex))
		return;
	sum++;
	sley_mutex_unlock(&mutex);
}

static void mutex_is_free(void)
{
	MODEL_CHECK((sum == 1 || sum == 2) && mutex.q.word == 0);
}

MODEL(a_holder_that_has_just_begun, .setup = setup,
      .threads = { begin_and_try, enter_and_leave }, .finish = mutex_is_free);

MODEL(a_holder_that_has_just_begun_without_membarrier, .setup = setup,
      .no_membarrier = true, .threads = { begin_and_try, enter_and_leave },
      .finish = mutex_is_free);

/* Its strand is idle. */
static void look_at_strand(int id)
{
	(void)id;
	MODEL_CHECK(holder_has_ended((uintptr_t)&strand.forks));
}

MODEL(a_holder_that_has_ended, .setup = setup, .threads = { look_at_strand });
