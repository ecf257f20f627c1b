/* SPDX-License-Identifier: MIT */
/*
 * io_reactor.c - the batch of src/io/reactor.c, with the very source.c, poller.c,
 * search.c and idle.c: each edge is handed to ready_edge(), once.
 *
 * The kernel is a word with a futex, as in core_poller.c: a bit for the eventfd, and a
 * bit for each descriptor that has an edge.  An edge stays there until a worker takes
 * it, and wakes the worker in the poller, also if it came before that worker slept.
 * Taking edges orders no memory: only the code under test does.  A batch has two edges.
 * A worker that has edges goes on to other work, or looks until nothing is left.
 *
 * Complete for: one worker and one edge, or two that come one by one, also where the
 * worker asks the kernel rarely; a worker that takes beside one that asks, while a third is in the poller; two workers that ask,
 * with as many and more edges than a batch has; a worker that parks while another asks,
 * or ends a take.  With membarrier and without.  The models would not see mistakes that
 * take three workers that ask, or two reactors.  What ready_edge() does with an edge is
 * in src/io/ready.h.
 */
/* For what is static there; before the crew, which has an rt of its own. */
#include "core/sched/idle.c"
#include "core/sched/search.c"
#include "io/reactor.c"

#define CREW_HAS_SOURCES
#define CREW_MAX 3
#include "crew.h"
#include "epoll_only.h"
#include "monitor_only.h"

#include "core/task/turn.h"

#define EVENTFD 2
#define EPOLL 3 /* of the reactor */
#define FDS 3

#define KERNEL_EVENTFD 1u
#define KERNEL_EDGE(fd) (2u << (fd))
#define KERNEL_EDGES (KERNEL_EDGE(FDS) - KERNEL_EDGE(0))

void *sley__descriptors[DESCRIPTOR_CHUNKS];

static struct io_descriptor places[DESCRIPTOR_CHUNK];
static struct reactor reactor;
static struct sley_task home_task;
static uint32_t kernel; /* a futex */
static struct ledger {
	int told[FDS];      /* how often, by descriptor */
	int done[CREW_MAX]; /* by each worker */
	int ended;
} ledger;

/* ---- the kernel ------------------------------------------------------------------ */

static void kernel_raise(uint32_t bits)
{
	(void)or_acq_rel(&kernel, bits);
	os_futex_wake(&kernel, 2);
}

int os_edges_take(int epoll, struct os_edge *edges, int max)
{
	/* relaxed: the kernel orders nothing for its callers. */
	uint32_t word = load_relaxed(&kernel), left;
	int nr;

	MODEL_CHECK(epoll == EPOLL);
	do {
		left = word;
		nr = 0;
		for (int fd = 0; fd < FDS && nr < max; fd++) {
			if (!(word & KERNEL_EDGE(fd)))
				continue;
			left &= ~KERNEL_EDGE(fd);
			edges[nr++] = (struct os_edge){ fd, OS_EDGE_IN };
		}
		/* relaxed: as above. */
	} while (nr && !cas_relaxed(&kernel, &word, left));
	return nr;
}

unsigned int os_poll_two(int first, int second, uint64_t deadline_ns)
{
	(void)first;
	(void)second;
	for (;;) {
		uint32_t word = load_acquire(&kernel);

		if (word)
			return (word & KERNEL_EVENTFD ? OS_POLL_FIRST : 0) |
			       (word & KERNEL_EDGES ? OS_POLL_SECOND : 0);
		if (os_futex_wait(&kernel, word, deadline_ns))
			return 0;
	}
}

void os_eventfd_signal(int fd)
{
	MODEL_CHECK(fd == EVENTFD);
	kernel_raise(KERNEL_EVENTFD);
}

void os_eventfd_clear(int fd)
{
	(void)fd;
	(void)and_acq_rel(&kernel, ~KERNEL_EVENTFD);
}

int os_eventfd_create(void)
{
	return EVENTFD;
}

int(os_epoll_create)(void)
{
	return 1;
}

int(os_epoll_add)(int watch, int fd, uint32_t tag)
{
	(void)tag;
	MODEL_CHECK(watch == 1 && fd == EPOLL);
	return 0;
}

void os_epoll_remove(int watch, int fd)
{
	(void)watch;
	(void)fd;
}

int os_fd_check(int fd)
{
	(void)fd;
	return 0;
}

bool os_fd_is_readable(int fd)
{
	(void)fd;
	MODEL_CHECK(!"a source with left() is not asked for its descriptor");
	return false;
}

void os_close(int fd)
{
	(void)fd;
}

int os_edges_add(int epoll, int fd)
{
	(void)epoll;
	(void)fd;
	return 0;
}

void os_edges_remove(int epoll, int fd)
{
	(void)epoll;
	(void)fd;
}

/* There are no rings: core_poller.c has them. */
int os_uring_create(struct os_uring *ring)
{
	(void)ring;
	return -ENOSYS;
}

void os_uring_arm_word(struct os_uring *ring, const uint32_t *word,
		       uint32_t expected)
{
	(void)ring;
	(void)word;
	(void)expected;
}

void os_uring_arm_read(struct os_uring *ring, int fd)
{
	(void)ring;
	(void)fd;
}

int os_uring_sleep(struct os_uring *ring, uint64_t deadline_ns)
{
	(void)ring;
	(void)deadline_ns;
	return -ENOSYS;
}

void os_uring_destroy(struct os_uring *ring)
{
	(void)ring;
}

/* ---- what is left out ------------------------------------------------------------ */

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"nobody unbinds");
}

/* ---- edges ------------------------------------------------------------------------- */

void ready_edge(struct io_descriptor *descriptor, unsigned int bits)
{
	ptrdiff_t fd = descriptor - places;
	int id = model_thread();

	MODEL_CHECK(fd >= 0 && fd < FDS && bits == OS_EDGE_IN);
	/* A step, so that others come between two edges of a batch. */
	model_access(&descriptor->users);
	ledger.told[fd]++;
	ledger.done[id < 0 ? 2 : id]++; /* worker 2 comes at the end */
}

static void setup_with(unsigned int workers, int nr_edges)
{
	crew_set_up(workers);
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	home_task = (struct sley_task){ 0 };
	task_build(&home_task, LEVEL_DEFAULT, 0);
	sley__descriptors[0] = places;
	reactor = (struct reactor){ .epoll = EPOLL };
	model_lock_word(&rt->sources.lock.word);
	model_lock_word(&rt->poller.lock.word);
	model_name(&kernel, "kernel");
	model_name(&reactor.batch, "batch");
	model_name(&rt->sources.live, "live");
	model_name(&rt->sources.source[0].word, "word");
	model_name(&rt->sources.source[0].pending, "pending");
	model_name(&rt->poller.taken, "taken");
	model_name(&rt->poller.nr_watched, "watched");
	kernel = 0;
	MODEL_CHECK(open_reactor(rt, &reactor) == 0);
	reactor.source->pending = 0;
	kernel = KERNEL_EDGE(nr_edges) - KERNEL_EDGE(0);
}

static void check_all(int nr_edges)
{
	uint32_t nr_counted = 0;

	for (int fd = 0; fd < FDS; fd++)
		MODEL_CHECK(ledger.told[fd] == (fd < nr_edges));
	for (int i = 0; i < CREW_MAX; i++)
		nr_counted += crew[i].poll.nr_edges;
	MODEL_CHECK(nr_counted == (uint32_t)nr_edges);
	MODEL_CHECK(!(kernel & KERNEL_EDGES) && reactor.batch == BATCH_EMPTY);
	MODEL_CHECK(reactor.source->word == SOURCE_LIVE);
	MODEL_CHECK(!reactor.source->taking.word);
}

/* ---- workers ----------------------------------------------------------------------- */

static void turn(int id, struct sley_task *task)
{
	/* Of a worker that comes at the end, too. */
	sley__self.worker = &crew[id];
	(void)task_claim(task);
	task->fn(task);
	MODEL_CHECK(turns_of(task)->after(&crew[id], task) == NULL);
}

/* One look; then the worker is busy for ever. */
static void look_at_sources(int id)
{
	struct sley_task *task = source_pick(&crew[id]);

	if (task)
		turn(id, task);
	ledger.ended++;
}

/* Looks until it finds nothing. */
static void look_again(int id)
{
	struct sley_task *task;

	while ((task = source_pick(&crew[id])))
		turn(id, task);
	ledger.ended++;
}

/* Until it has told of @nr edges, or comes home. */
static void work_until(int id, int nr)
{
	while (ledger.done[id] < nr) {
		struct sley_task *task = worker_search(&crew[id]);

		if (task == &home_task)
			break;
		turn(id, task);
	}
	ledger.ended++;
}

static void worker(int id)
{
	work_until(id, 1);
}

static void worker_of_two(int id)
{
	work_until(id, 2);
}

static void raise_one(int id)
{
	(void)id;
	kernel_raise(KERNEL_EDGE(0));
}

static void raise_two(int id)
{
	(void)id;
	kernel_raise(KERNEL_EDGE(0));
	kernel_raise(KERNEL_EDGE(1));
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

/* ---- one worker ---------------------------------------------------------------------- */

static void setup_one(void)
{
	setup_with(1, 0);
}

static void one_edge(void)
{
	MODEL_CHECK(ledger.ended == 1);
	check_all(1);
}

static void two_edges(void)
{
	MODEL_CHECK(ledger.ended == 1);
	check_all(2);
}

BOTH_VARIANTS(a_worker_hears_of_an_edge, .setup = setup_one,
	      .threads = { worker, raise_one }, .finish = one_edge);

BOTH_VARIANTS(a_worker_hears_of_two_edges, .setup = setup_one,
	      .threads = { worker_of_two, raise_two }, .finish = two_edges);

/*
 * So many asks were in vain that only a worker whom the poller has told asks the kernel:
 * in the model no time passes.
 */
static void setup_one_that_asks_rarely(void)
{
	setup_one();
	reactor.nr_vain = ASKS_VAIN;
	reactor.asked_ns = os_now();
}

BOTH_VARIANTS(a_worker_that_asks_rarely_hears_of_an_edge,
	      .setup = setup_one_that_asks_rarely,
	      .threads = { worker, raise_one }, .finish = one_edge);

BOTH_VARIANTS(a_worker_that_asks_rarely_hears_of_two_edges,
	      .setup = setup_one_that_asks_rarely,
	      .threads = { worker_of_two, raise_two }, .finish = two_edges);

/* ---- a taker, and an asker beside it -------------------------------------------------- */

/* A notification is pending; worker 2 is asleep in the poller. */
static void setup_beside(int nr_edges)
{
	struct idle_look look = { .arg = &crew[2] };

	setup_with(3, nr_edges);
	reactor.source->pending = 1;
	MODEL_CHECK(poller_sit(&crew[2], &look) && look.by_eventfd);
	crew[2].seat.word = SEAT_POLLING;
	list_append(&rt->idle.parked, &crew[2].seat.link);
	rt->idle.counts += IDLE_PARKED_ONE;
}

static void setup_one_beside(void)
{
	setup_beside(1);
}

static void setup_two_beside(void)
{
	setup_beside(2);
}

/* Worker 2 looks only if it was woken: by a worker, or by an edge in the kernel. */
static void worker_2_ends(int nr_edges)
{
	if (kernel)
		look_again(2);
	check_all(nr_edges);
}

static void one_is_told(void)
{
	worker_2_ends(1);
}

static void two_are_told(void)
{
	worker_2_ends(2);
}

BOTH_VARIANTS(an_edge_that_is_kept_beside_a_taker_is_told,
	      .setup = setup_one_beside,
	      .threads = { look_at_sources, look_at_sources },
	      .finish = one_is_told);

BOTH_VARIANTS(a_batch_that_is_kept_beside_a_taker_is_told,
	      .setup = setup_two_beside,
	      .threads = { look_at_sources, look_at_sources },
	      .finish = two_are_told);

/* ---- two askers ------------------------------------------------------------------------ */

static void setup_two_ask(void)
{
	setup_with(2, 2);
}

static void all_two(void)
{
	MODEL_CHECK(ledger.ended == 2);
	check_all(2);
}

MODEL(two_askers_tell_each_edge_once, .setup = setup_two_ask,
      .threads = { look_again, look_again }, .finish = all_two,
      .slow_modes = MODEL_RA);

/* The taker asks for more itself, beside the other; worker 2 takes what is left. */
static void setup_more_than_a_batch(void)
{
	setup_beside(3);
	reactor.source->pending = 0;
}

static void three_are_told(void)
{
	worker_2_ends(3);
}

MODEL(two_askers_tell_more_than_a_batch, .setup = setup_more_than_a_batch,
      .threads = { look_at_sources, look_at_sources },
      .finish = three_are_told);

/* ---- a worker that parks ----------------------------------------------------------------- */

/* Worker 1 does not search, and is about to park. */
static void setup_parks(void)
{
	setup_with(2, 1);
}

/* If it has told of the edge, nothing else wakes the other worker. */
static void ask_and_send_home(int id)
{
	look_at_sources(id);
	if (ledger.done[id])
		place_at(&crew[1], &home_task);
}

static void park_and_look(int id)
{
	(void)park(&crew[id], false);
	look_at_sources(id);
}

/* At the end worker 1 parks once more: it looks before, and then hears the kernel. */
static void told_by_either(void)
{
	if (sources_wait(&crew[1]) || kernel & KERNEL_EDGES)
		look_again(1);
	check_all(1);
}

BOTH_VARIANTS(a_worker_parks_while_another_asks, .setup = setup_parks,
	      .threads = { ask_and_send_home, park_and_look },
	      .finish = told_by_either, .slow_modes = MODEL_RA);

/* An asker is in the kernel: it is awake, and takes what it gets. */
static void look_before_parking(int id)
{
	reactor.batch = BATCH_ASKING;
	MODEL_CHECK(!sources_wait(&crew[id]));
	reactor.batch = BATCH_FULL;
	MODEL_CHECK(sources_wait(&crew[id]));
	ledger.ended++;
}

static void has_looked(void)
{
	MODEL_CHECK(ledger.ended == 1);
}

MODEL(a_full_batch_alone_keeps_a_worker_awake, .setup = setup_one,
      .threads = { look_before_parking }, .finish = has_looked);

/* Worker 0 has a taker, whose take() has returned; then an asker filled the batch. */
static void setup_taker_ends(void)
{
	struct sley_task *task;

	setup_with(2, 0);
	reactor.source->pending = 1;
	task = source_pick(&crew[0]);
	MODEL_CHECK(task == &reactor.source->taker);
	(void)task_claim(task);
	task->fn(task);
	kernel = KERNEL_EDGE(0);
	MODEL_CHECK(has(&reactor));
}

/* Afterwards the worker is busy for ever. */
static void end_turn(int id)
{
	struct sley_task *task = &reactor.source->taker;

	MODEL_CHECK(turns_of(task)->after(&crew[id], task) == NULL);
	ledger.ended++;
}

static void parker(int id)
{
	(void)park(&crew[id], false);
	worker(id);
}

static void told_by_the_parker(void)
{
	MODEL_CHECK(ledger.ended == 2 && ledger.done[1] == 1);
	check_all(1);
}

BOTH_VARIANTS(a_taker_leaves_a_batch_to_a_worker_that_parks,
	      .setup = setup_taker_ends, .threads = { end_turn, parker },
	      .finish = told_by_the_parker);
