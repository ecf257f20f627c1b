/* SPDX-License-Identifier: MIT */
/*
 * core_poller.c - the poller of src/core/sched/poller.h, with the parking protocol of
 * idle.h: no work and no descriptor is left behind while all workers sleep.
 *
 * A model worker searches as in core_idle.c.  Work is a counter; a descriptor that can
 * be read is a piece of work, too, which a worker finds only after the poller woke it.
 * A worker with a piece is busy for ever.  Then the monitor looks at the free seat
 * once, as it does at each tick.
 *
 * The kernel is a word with a futex: a bit for the eventfd, a bit for a descriptor that
 * can be read, a bit for the completed operation of a ring.  The operations on the word
 * have the order of the kernel's locks.  The operation of a ring on a seat word is a
 * thread of its own, which sleeps on the seat word as the kernel's operation does, and
 * stays there when the worker has left.  The kernel arms an operation before the worker
 * sleeps; this thread may be later, which explores more.
 *
 * Complete for one worker that sleeps in epoll or in a ring and hears of work of each
 * kind and of a descriptor; for a descriptor that comes while one worker sits
 * down; for a seat that is left while another worker sleeps; for a bound thread that
 * leaves the seat of a runtime without a monitor while another bound thread sleeps or
 * goes to sleep; for a sleep beside an
 * operation of a ring that is still armed; with membarrier and without.  A ring with
 * work and a descriptor is complete in SC and TSO only, with --slow; so is a worker that
 * sits down beside one that has the seat, which is searched in RA with four delays.  Two
 * workers that sit down are searched in SC and TSO with four delays, with --slow:
 * complete searches did not end in half an hour, or in RA in an hour and a half.  The
 * models would not see mistakes that take two workers with rings, or three workers.
 */
#define CREW_HASTENS
#include "crew.h"
#include "payload.h"

#include "core/sched/idle.c"
#include "core/sched/poller.h"
#include "os/shared_memory.h"

#include <errno.h>

#define PIECES 2

#define KERNEL_EVENTFD 1u
#define KERNEL_READABLE 2u
#define KERNEL_COMPLETED 4u

enum { OP_NONE, OP_ARMED, OP_OVER };

static uint32_t kernel; /* a futex */
static uint32_t op;     /* of the ring of worker 0; a futex */
static bool has_io_uring;
static uint32_t tail, head;
static uint32_t home; /* of worker 0 */
static bool has_home, has_pieces;
static struct payload pieces[PIECES], at_home, of_descriptor;
static struct ledger {
	int done, hastened, wanted;
} ledger;

static void setup_with(unsigned int workers, bool uring)
{
	crew_set_up(workers);
	kernel = op = tail = head = home = 0;
	has_io_uring = uring;
	has_home = has_pieces = false;
	memset(pieces, 0, sizeof(pieces));
	at_home = of_descriptor = (struct payload){ 0 };
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&rt->poller.lock.word);
	model_name(&kernel, "kernel");
	model_name(&op, "op");
	model_name(&tail, "tail");
	model_name(&head, "head");
	model_name(&home, "home");
	model_name(&rt->poller.taken, "taken");
	model_name(&rt->poller.nr_watched, "watched");
}

/* A descriptor is watched already. */
static void setup_watched(unsigned int workers, bool uring)
{
	setup_with(workers, uring);
	rt->poller.open = true;
	rt->idle.eventfd = 2;
	rt->poller.nr_watched = 1;
}

/* ---- the kernel -------------------------------------------------------------------- */

static void kernel_raise(uint32_t bit)
{
	(void)or_release(&kernel, bit);
	os_futex_wake(&kernel, 2);
}

/* Sleeps until one of @bits is raised: these; 0: the deadline has come. */
static uint32_t kernel_await(uint32_t bits, uint64_t deadline_ns)
{
	for (;;) {
		uint32_t word = load_acquire(&kernel);

		if (word & bits)
			return word & bits;
		if (os_futex_wait(&kernel, word, deadline_ns))
			return 0;
	}
}

int(os_epoll_create)(void)
{
	return 1;
}

int os_fd_check(int fd)
{
	(void)fd;
	return 0;
}

int os_eventfd_create(void)
{
	return 2;
}

int(os_epoll_add)(int watch, int fd, uint32_t tag)
{
	(void)fd;
	(void)tag;
	MODEL_CHECK(watch == 1);
	return 0;
}

void os_epoll_remove(int watch, int fd)
{
	(void)watch;
	(void)fd;
}

void os_close(int fd)
{
	(void)fd;
}

void os_eventfd_signal(int fd)
{
	MODEL_CHECK(fd == 2);
	kernel_raise(KERNEL_EVENTFD);
}

void os_eventfd_clear(int fd)
{
	(void)fd;
	(void)and_acq_rel(&kernel, ~KERNEL_EVENTFD);
}

unsigned int os_poll_two(int first, int second, uint64_t deadline_ns)
{
	(void)first;
	(void)second;
	return kernel_await(KERNEL_EVENTFD | KERNEL_READABLE, deadline_ns);
}

int os_uring_create(struct os_uring *ring)
{
	if (!has_io_uring)
		return -ENOSYS;
	ring->queue.rings = ring;
	return 0;
}

void os_uring_arm_word(struct os_uring *ring, const uint32_t *word,
		       uint32_t expected)
{
	MODEL_CHECK(word == &crew[0].seat.word && expected == SEAT_PARKED);
	if (ring->armed)
		return;
	ring->armed = OS_URING_WORD;
	(void)xchg_acq_rel(&op, OP_ARMED);
	os_futex_wake(&op, 1);
}

void os_uring_arm_read(struct os_uring *ring, int fd)
{
	(void)ring;
	(void)fd;
}

int os_uring_sleep(struct os_uring *ring, uint64_t deadline_ns)
{
	uint32_t bits =
		kernel_await(KERNEL_COMPLETED | KERNEL_READABLE, deadline_ns);

	if (bits & KERNEL_COMPLETED) {
		(void)and_acq_rel(&kernel, ~KERNEL_COMPLETED);
		ring->armed = 0;
	}
	if (!bits)
		return -ETIMEDOUT;
	return (bits & KERNEL_COMPLETED ? OS_URING_WORD : 0) |
	       (bits & KERNEL_READABLE ? OS_URING_READ : 0);
}

/* By worker 0, at its end. */
void os_uring_destroy(struct os_uring *ring)
{
	(void)ring;
	(void)xchg_acq_rel(&op, OP_OVER);
	os_futex_wake(&op, 1);
	os_futex_wake(&crew[0].seat.word, SEAT_WAITERS);
}

/* The operation of the ring, as the kernel carries it out. */
static void operation(int id)
{
	(void)id;
	for (;;) {
		uint32_t state = load_acquire(&op);

		if (state == OP_OVER)
			return;
		if (state == OP_NONE) {
			(void)os_futex_wait(&op, OP_NONE, UINT64_MAX);
			continue;
		}
		(void)os_futex_wait(&crew[0].seat.word, SEAT_PARKED,
				    UINT64_MAX);
		if (cas_acq_rel(&op, &state, OP_NONE))
			kernel_raise(KERNEL_COMPLETED);
	}
}

/* ---- workers ----------------------------------------------------------------------- */

/* As core/sched/search.c looks before it sleeps. */
static bool look(void *arg)
{
	struct worker *worker = arg;

	if (has_home && worker->index == 0 && load_relaxed(&home))
		return true;
	if (has_pieces && load_relaxed(&head) < load_relaxed(&tail))
		return true;
	return poller_is_vacant(worker->rt);
}

/* The owner of the descriptor reads it. */
static bool read_descriptor(void)
{
	if (!(and_acq_rel(&kernel, ~KERNEL_READABLE) & KERNEL_READABLE))
		return false;
	payload_check(&of_descriptor);
	return true;
}

static bool take(struct worker *worker, bool readable)
{
	uint32_t i = load_relaxed(&head);

	if (has_home && worker->index == 0 && xchg_acquire(&home, 0)) {
		payload_check(&at_home);
		return true;
	}
	while (has_pieces && i < load_acquire(&tail)) {
		if (cas_acq_rel(&head, &i, i + 1)) {
			payload_check(&pieces[i]);
			return true;
		}
	}
	return readable && read_descriptor();
}

/* As core/sched/search.c parks. */
static bool park(struct worker *worker, bool searching, bool *polled)
{
	struct idle_look before = { .look = look, .arg = worker };

	*polled = poller_sit(worker, &before);
	searching = idle_park(&rt->idle, &worker->seat, searching, &before,
			      UINT64_MAX);
	if (*polled)
		poller_leave(worker);
	return searching;
}

static void end_search(struct worker *worker)
{
	if (idle_search_end(&rt->idle) && has_pieces &&
	    load_relaxed(&head) < load_relaxed(&tail))
		idle_notify(&rt->idle);
	(void)worker;
}

/* Until the worker has a piece, with which it is busy for ever. */
static void search(struct worker *worker, bool searching)
{
	bool polled = false;

	while (!take(worker, polled))
		searching = park(worker, searching, &polled);
	if (searching)
		end_search(worker);
	ledger.done++;
}

static void parker(int id)
{
	search(&crew[id], false);
	poller_look_after(rt); /* by the monitor */
}

static void parker_twice(int id)
{
	search(&crew[id], false);
	search(&crew[id], false);
}

/* With a ring. */
static void ring_parker(int id)
{
	search(&crew[id], false);
	poller_ring_end(&crew[id]);
}

static void ring_parker_twice(int id)
{
	parker_twice(id);
	poller_ring_end(&crew[id]);
}

/* ---- the others -------------------------------------------------------------------- */

static void submit_piece(uint32_t nr)
{
	payload_write(&pieces[nr - 1]);
	store_release(&tail, nr);
	idle_notify(&rt->idle);
}

static void submit(int id)
{
	(void)id;
	submit_piece(1);
}

static void submit_toward(int id)
{
	(void)id;
	payload_write(&pieces[0]);
	store_release(&tail, 1);
	idle_notify_toward(&rt->idle, &crew[0].seat);
}

static void submit_both(int id)
{
	(void)id;
	submit_piece(1);
	submit_piece(2);
}

static void send_home(int id)
{
	(void)id;
	payload_write(&at_home);
	store_release(&home, 1);
	(void)idle_notify_seat(&rt->idle, &crew[0].seat);
}

static void signal_descriptor(int id)
{
	(void)id;
	payload_write(&of_descriptor);
	kernel_raise(KERNEL_READABLE);
}

static void watch(int id)
{
	(void)id;
	MODEL_CHECK(poller_watch(rt, 3) == 0);
	signal_descriptor(id);
}

static void watch_and_submit(int id)
{
	watch(id);
	submit(id);
}

static void signal_and_submit(int id)
{
	signal_descriptor(id);
	submit(id);
}

/* ---- models ------------------------------------------------------------------------ */

static void done(int nr)
{
	MODEL_CHECK(ledger.done == nr);
	MODEL_CHECK(rt->idle.counts == 0);
	MODEL_CHECK(list_empty(&rt->idle.parked));
	MODEL_CHECK(!rt->poller.taken);
	for (unsigned int i = 0; i < CREW_MAX; i++)
		MODEL_CHECK(crew[i].seat.word == SEAT_AWAKE);
}

static void one(void)
{
	done(1);
}

static void two(void)
{
	done(2);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

static void setup_epoll(void)
{
	setup_watched(1, false);
	has_pieces = has_home = true;
}

static void setup_epoll_pieces(void)
{
	setup_watched(1, false);
	has_pieces = true;
}

static void setup_epoll_home(void)
{
	setup_watched(1, false);
	has_home = true;
}

BOTH_VARIANTS(epoll_hears_of_work, .setup = setup_epoll_pieces,
	      .threads = { parker, submit }, .finish = one);

BOTH_VARIANTS(epoll_hears_of_work_sent_toward_it, .setup = setup_epoll_pieces,
	      .threads = { parker, submit_toward }, .finish = one);

BOTH_VARIANTS(epoll_hears_of_work_at_home, .setup = setup_epoll_home,
	      .threads = { parker, send_home }, .finish = one);

BOTH_VARIANTS(epoll_hears_of_a_descriptor, .setup = setup_epoll,
	      .threads = { parker, signal_descriptor }, .finish = one);

/* The signal for the first piece may come when the worker sleeps for the second. */
BOTH_VARIANTS(epoll_hears_of_both, .setup = setup_epoll_pieces,
	      .threads = { parker_twice, submit, signal_descriptor },
	      .finish = two);

BOTH_VARIANTS(epoll_hears_of_both_at_home, .setup = setup_epoll_home,
	      .threads = { parker_twice, send_home, signal_descriptor },
	      .finish = two);

static void setup_ring_pieces(void)
{
	setup_watched(1, true);
	has_pieces = true;
}

static void setup_ring_home(void)
{
	setup_watched(1, true);
	has_home = true;
}

BOTH_VARIANTS(ring_hears_of_work, .setup = setup_ring_pieces,
	      .threads = { ring_parker, submit, operation }, .finish = one);

BOTH_VARIANTS(ring_hears_of_work_at_home, .setup = setup_ring_home,
	      .threads = { ring_parker, send_home, operation }, .finish = one);

BOTH_VARIANTS(ring_hears_of_a_descriptor, .setup = setup_ring_home,
	      .threads = { ring_parker, signal_descriptor, operation },
	      .finish = one);

/* The operation of the first sleep is still armed in the second. */
BOTH_VARIANTS(ring_hears_of_both, .setup = setup_ring_home, .slow = true,
	      .modes = MODEL_SC | MODEL_TSO,
	      .threads = { ring_parker_twice, send_home, signal_descriptor,
			   operation },
	      .finish = two);

/*
 * The worker has left its ring, where an operation is armed, and sleeps on its word.
 */
static void setup_armed(void)
{
	setup_with(1, true);
	has_pieces = has_home = true;
	op = OP_ARMED;
	crew[0].poll.ring.armed = OS_URING_WORD;
	crew[0].poll.ring.queue.rings = &crew[0].poll.ring;
}

BOTH_VARIANTS(a_sleeper_beside_an_armed_operation_hears_of_work,
	      .setup = setup_armed,
	      .threads = { ring_parker, submit, operation }, .finish = one);

BOTH_VARIANTS(a_sleeper_beside_an_armed_operation_hears_of_work_toward_it,
	      .setup = setup_armed,
	      .threads = { ring_parker, submit_toward, operation },
	      .finish = one);

BOTH_VARIANTS(a_sleeper_beside_an_armed_operation_hears_of_work_at_home,
	      .setup = setup_armed,
	      .threads = { ring_parker, send_home, operation }, .finish = one);

/* ---- the seat ---------------------------------------------------------------------- */

static void setup_unwatched(void)
{
	setup_with(1, false);
}

/* The descriptor comes while the worker sits down. */
BOTH_VARIANTS(a_parker_hears_of_the_first_watch, .setup = setup_unwatched,
	      .threads = { parker, watch }, .finish = one);

static void watch_alone(int id)
{
	(void)id;
	MODEL_CHECK(poller_watch(rt, 3) == 0);
}

static void setup_unwatched_home(void)
{
	setup_with(1, false);
	has_home = true;
}

/* The pusher has the eventfd from the worker, which has it from the watcher. */
BOTH_VARIANTS(a_pusher_finds_the_eventfd, .setup = setup_unwatched_home,
	      .threads = { parker, watch_alone, send_home }, .finish = one);

static void setup_two_unwatched(void)
{
	setup_with(2, false);
	has_pieces = true;
}

BOTH_VARIANTS(two_parkers_hear_of_the_first_watch, .setup = setup_two_unwatched,
	      .threads = { parker, parker, watch_and_submit }, .finish = two,
	      .slow = true, .delays = 4, .modes = MODEL_SC | MODEL_TSO);

/* Worker 1 sleeps on its word; worker 0 sits down in the poller, and leaves it. */
static void setup_one_asleep(void)
{
	setup_watched(2, false);
	has_pieces = true;
	crew[1].seat.word = SEAT_PARKED;
	list_prepend(&rt->idle.parked, &crew[1].seat.link);
	rt->idle.counts += IDLE_PARKED_ONE;
	rt->poller.taken = 1; /* by worker 0 */
}

static void sleeper(int id)
{
	const struct idle_look before = { .look = look, .arg = &crew[id] };

	search(&crew[id],
	       rest(&rt->idle, &crew[id].seat, false, &before, UINT64_MAX));
	poller_look_after(rt);
}

static void leaver(int id)
{
	poller_leave(&crew[id]);
	parker(id);
}

BOTH_VARIANTS(a_seat_that_is_left_is_taken, .setup = setup_one_asleep,
	      .threads = { leaver, sleeper, signal_and_submit }, .finish = two,
	      .slow_modes = MODEL_RA);

/* The same without a monitor: bound threads, and thread 0 never comes back. */
static void setup_bound_asleep(void)
{
	setup_one_asleep();
	rt->nr_workers = 0;
}

static void setup_bound_awake(void)
{
	setup_watched(2, false);
	has_pieces = true;
	rt->nr_workers = 0;
	rt->poller.taken = 1; /* by thread 0 */
}

static void bound_leaver(int id)
{
	poller_leave(&crew[id]);
}

static void bound_sleeper(int id)
{
	const struct idle_look before = { .look = look, .arg = &crew[id] };

	search(&crew[id],
	       rest(&rt->idle, &crew[id].seat, false, &before, UINT64_MAX));
}

static void bound_parker(int id)
{
	search(&crew[id], false);
}

BOTH_VARIANTS(a_bound_thread_hands_the_seat_over, .setup = setup_bound_asleep,
	      .threads = { bound_leaver, bound_sleeper, signal_descriptor },
	      .finish = one);

BOTH_VARIANTS(a_bound_thread_finds_the_seat_that_is_left,
	      .setup = setup_bound_awake,
	      .threads = { bound_leaver, bound_parker, signal_descriptor },
	      .finish = one);

/* Worker 1 sleeps in the poller already, and worker 0 goes to sleep. */
static struct idle_look seated;

static void setup_one_seated(void)
{
	setup_watched(2, false);
	has_pieces = true;
	seated = (struct idle_look){ .look = look, .arg = &crew[1] };
	MODEL_CHECK(poller_sit(&crew[1], &seated) && seated.by_eventfd);
	crew[1].seat.word = SEAT_POLLING;
	list_append(&rt->idle.parked, &crew[1].seat.link);
	rt->idle.counts += IDLE_PARKED_ONE;
}

static void seated_sleeper(int id)
{
	bool searching =
		rest(&rt->idle, &crew[id].seat, false, &seated, UINT64_MAX);

	poller_leave(&crew[id]);
	search(&crew[id], searching);
	poller_look_after(rt);
}

BOTH_VARIANTS(one_worker_has_the_seat, .setup = setup_one_seated,
	      .threads = { parker, seated_sleeper, submit_both }, .finish = two,
	      .slow = true, .modes = MODEL_SC | MODEL_TSO);

BOTH_VARIANTS(one_worker_has_the_seat_in_ra, .setup = setup_one_seated,
	      .threads = { parker, seated_sleeper, submit_both }, .finish = two,
	      .slow = true, .delays = 4, .modes = MODEL_RA);

/* Both go to sleep; one of them in the poller. */
static void setup_two_watched(void)
{
	setup_watched(2, false);
	has_pieces = true;
}

BOTH_VARIANTS(two_parkers_share_the_seat, .setup = setup_two_watched,
	      .threads = { parker, parker, submit_both }, .finish = two,
	      .slow = true, .delays = 4, .modes = MODEL_SC | MODEL_TSO);

/* ---- the plan of the monitor ----------------------------------------------------------- */

void monitor_hasten(struct monitor *monitor)
{
	(void)monitor;
	ledger.hastened++;
}

static void plan(int id)
{
	(void)id;
	store_relaxed(&rt->monitor.late_ns, 1000);
	ledger.wanted = poller_wanted_settled(rt);
}

static void ticks(void)
{
	MODEL_CHECK(ledger.wanted || ledger.hastened);
}

MODEL(the_monitor_ticks_after_the_first_watch, .setup = setup_unwatched,
      .threads = { plan, watch_alone }, .finish = ticks);
