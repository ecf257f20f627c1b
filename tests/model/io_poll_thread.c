/* SPDX-License-Identifier: MIT */
/*
 * io_poll_thread.c - src/io/poll_thread.c: each event that a task waits for is told,
 * once; and a closer returns when the thread does not hold the descriptor any more.
 *
 * The kernel is a word with a futex: a bit for the eventfd, and a bit for each descriptor
 * that is readable, which stays.  The kernel orders no memory: only the code under test
 * does.  While a thread is in poll(2), the kernel holds the file of each entry: it
 * touches plain memory of the file at the beginning and at the end.  A file that ends
 * before is a race, and is seen in every memory.
 *
 * Complete for: a closer, in and between rounds; a watcher, of a descriptor that is
 * readable or becomes readable, also if the set has to grow and there is no memory at
 * first.  Within three delays for two watchers of two descriptors in a set that has to
 * grow, and for a watcher beside a closer.  What ready_edge() does with an edge is in
 * io_ready.c.
 */
#include "explorer.h"

#include "model_mem.h"

#include "io/poll_thread.c"

#define EVENTFD 7
#define FDS 2

#define KERNEL_EVENTFD 1u
#define KERNEL_IN(fd) (2u << (fd))

void *sley__descriptors[DESCRIPTOR_CHUNKS];

static struct io_descriptor places[DESCRIPTOR_CHUNK];
static struct sley rt;
static struct poll_thread *thread;
static uint32_t kernel;      /* a futex */
static uint32_t told[FDS];   /* how often; a futex */
static uint32_t is_over;     /* the thread has returned; a futex */
static uint32_t nr_watchers; /* that have not ended */
static struct file {
	bool open;
} files[FDS];

/* ---- the kernel ------------------------------------------------------------------ */

static void kernel_raise(uint32_t bits)
{
	/* relaxed: the kernel orders nothing for its callers. */
	(void)or_relaxed(&kernel, bits);
	os_futex_wake(&kernel, 1);
}

static void touch(const struct pollfd *entry, nfds_t nr)
{
	for (nfds_t i = 1; i < nr; i++) {
		struct file *file = &files[entry[i].fd];

		model_access(file);
		MODEL_CHECK(file->open);
	}
}

/* How many entries have an event. */
static int look_at(struct pollfd *entry, nfds_t nr, uint32_t word)
{
	int nr_found = 0;

	for (nfds_t i = 0; i < nr; i++) {
		uint32_t bit = i ? KERNEL_IN(entry[i].fd) : KERNEL_EVENTFD;

		entry[i].revents = word & bit ? POLLIN & entry[i].events : 0;
		nr_found += entry[i].revents != 0;
	}
	return nr_found;
}

void os_poll_many(struct pollfd *entry, unsigned int nr)
{
	uint32_t word;

	MODEL_CHECK(nr && entry[0].fd == EVENTFD);
	touch(entry, nr);
	/* relaxed: as above. */
	while (word = load_relaxed(&kernel), !look_at(entry, nr, word))
		(void)os_futex_wait(&kernel, word, UINT64_MAX);
	touch(entry, nr);
}

int(os_eventfd_create)(void)
{
	return EVENTFD;
}

void os_eventfd_signal(int fd)
{
	MODEL_CHECK(fd == EVENTFD);
	kernel_raise(KERNEL_EVENTFD);
}

void os_eventfd_clear(int fd)
{
	MODEL_CHECK(fd == EVENTFD);
	/* relaxed: as above. */
	(void)and_relaxed(&kernel, ~KERNEL_EVENTFD);
}

void os_close(int fd)
{
	MODEL_CHECK(fd == EVENTFD);
}

int(os_thread_start)(pthread_t *out, const char *name, void *(*fn)(void *),
		     void *arg)
{
	(void)out;
	(void)name;
	(void)arg;
	MODEL_CHECK(fn == thread_main);
	return 0;
}

void os_thread_join(pthread_t pthread)
{
	(void)pthread;
	while (!load_acquire(&is_over))
		(void)os_futex_wait(&is_over, 0, UINT64_MAX);
}

static void the_thread(int id)
{
	(void)id;
	(void)thread_main(thread);
	store_release(&is_over, 1);
	os_futex_wake(&is_over, 1);
}

/* ---- the others ------------------------------------------------------------------- */

/* The watcher waits for this, and does not touch its descriptor any more. */
void ready_edge(struct io_descriptor *descriptor, unsigned int bits)
{
	ptrdiff_t fd = descriptor - places;

	MODEL_CHECK(fd >= 0 && fd < FDS && bits == OS_EDGE_IN);
	MODEL_CHECK(add_release(&told[fd], 1) == 0);
	os_futex_wake(&told[fd], 1);
}

static void watch(int fd)
{
	MODEL_CHECK(poll_thread_watch(thread, fd, OS_EDGE_IN) == 0);
	while (!load_acquire(&told[fd]))
		(void)os_futex_wait(&told[fd], 0, UINT64_MAX);
}

static void close_file(int fd)
{
	poll_thread_forget(thread, fd);
	model_access(&files[fd]);
	files[fd].open = false;
}

/* The last ends the thread. */
static void leave_scene(void)
{
	if (sub_acq_rel(&nr_watchers, 1) == 1)
		poll_thread_end(&rt, thread);
}

static void watcher(int id)
{
	(void)id;
	watch(0);
	leave_scene();
}

static void second_watcher(int id)
{
	(void)id;
	watch(1);
	leave_scene();
}

static void closer(int id)
{
	(void)id;
	close_file(0);
	leave_scene();
}

static void watch_and_close(int id)
{
	(void)id;
	watch(0);
	close_file(0);
	leave_scene();
}

/* A set that cannot grow is as it was. */
static void starved_watcher(int id)
{
	for (int i = 1; i <= 2; i++) {
		mem_fails_in = i;
		MODEL_CHECK(poll_thread_watch(thread, 0, OS_EDGE_IN) ==
			    -ENOMEM);
	}
	watcher(id);
}

static void becomes_readable(int id)
{
	(void)id;
	kernel_raise(KERNEL_IN(0));
}

/* ---- scenes ------------------------------------------------------------------------ */

static void setup_with(uint32_t watchers, uint32_t kernel_bits)
{
	memset(told, 0, sizeof(told));
	sley__descriptors[0] = places;
	for (int fd = 0; fd < FDS; fd++)
		files[fd].open = true;
	is_over = 0;
	mem_fails_in = 0;
	nr_watchers = watchers;
	kernel = 0;
	rt.config.name = "model";
	MODEL_CHECK(poll_thread_start(&rt, &thread) == 0);
	kernel = kernel_bits;
	model_lock_word(&thread->lock.word);
	model_name(&kernel, "kernel");
	model_name(&thread->round, "round");
	model_name(&thread->lock.word, "lock");
	model_name(&told[0], "told0");
	model_name(&told[1], "told1");
	model_name(&is_over, "is_over");
}

static void setup_one(void)
{
	setup_with(1, 0);
}

static void setup_readable(void)
{
	setup_with(1, KERNEL_IN(0));
}

/* Descriptor 0 is in the set. */
static void setup_watched(void)
{
	setup_with(1, 0);
	MODEL_CHECK(poll_thread_watch(thread, 0, OS_EDGE_IN) == 0);
	kernel = 0;
}

static void setup_beside(void)
{
	setup_watched();
	nr_watchers = 2;
	kernel = KERNEL_IN(1);
}

/* There is room for the eventfd alone. */
static void setup_full(void)
{
	setup_with(2, KERNEL_IN(0) | KERNEL_IN(1));
	thread->set->capacity = 1;
}

static void setup_full_for_one(void)
{
	setup_full();
	nr_watchers = 1;
}

static void told_of(uint32_t first, uint32_t second)
{
	MODEL_CHECK(told[0] == first && told[1] == second);
	MODEL_CHECK(is_over);
}

static void told_of_none(void)
{
	told_of(0, 0);
}

static void told_of_first(void)
{
	told_of(1, 0);
}

static void told_of_second(void)
{
	told_of(0, 1);
}

static void told_of_both(void)
{
	told_of(1, 1);
}

MODEL(a_file_ends_when_the_thread_does_not_hold_it, .setup = setup_watched,
      .threads = { the_thread, closer }, .finish = told_of_none);

MODEL(a_watcher_hears_of_what_was_there, .setup = setup_readable,
      .threads = { the_thread, watcher }, .finish = told_of_first);

MODEL(a_watcher_hears_of_what_comes, .setup = setup_one,
      .threads = { the_thread, watcher, becomes_readable },
      .finish = told_of_first);

MODEL(a_watcher_without_memory_is_told_so, .setup = setup_full_for_one,
      .threads = { the_thread, starved_watcher }, .finish = told_of_first);

MODEL(a_watcher_closes_after_its_edge, .setup = setup_readable,
      .threads = { the_thread, watch_and_close }, .finish = told_of_first);

MODEL(a_watcher_beside_a_closer, .setup = setup_beside, .delays = 3,
      .threads = { the_thread, closer, second_watcher },
      .finish = told_of_second, .slow_modes = MODEL_RA);

MODEL(two_watchers_make_the_set_grow, .setup = setup_full, .delays = 3,
      .threads = { the_thread, watcher, second_watcher },
      .finish = told_of_both, .slow_modes = MODEL_RA);
