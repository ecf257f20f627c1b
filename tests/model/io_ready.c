/* SPDX-License-Identifier: MIT */
/*
 * io_ready.c - the core of src/io: no caller sleeps beside data, or beside a
 * descriptor that was closed; and no number is closed under a call.
 *
 * The very call.c, ready.c, descriptor.c, reactor.c, thread_wait.c and poll.c, over a
 * small kernel: one number, a file behind it, an epoll with one entry.  A file has units to
 * read, an end, and room to write.  An edge is a queued event; what it tells is what
 * holds when the reactor takes it, as in Linux; a registration queues what is there.
 * A call of the kernel is one step, which orders no memory: only the code under test
 * does.
 *
 * Complete for: one reader and one or two units, in one edge or in two, with the
 * descriptor known to the reactor or not; two readers and two units in one edge; a
 * reader and a closer, with and without a place, each a task or a thread; a reader
 * and two closers; a reader, a closer and a unit; a deadline or a cancel against an
 * edge, and against a closer; units and an end of the stream, in one edge or two; a
 * wait for both directions against an edge of either, a closer, a deadline; a number
 * that is closed and opened by another thread.  Not seen: mistakes that take two
 * reactors, or two numbers.
 */
#include "tasks_only.h"

#include "payload.h"

#include "core/sched/source.h"
#include "io/call.h"
#include "io/file.h"
#include "io/ready.h"
#include "os/at_fork.h"
#include "os/epoll.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#include <poll.h>
#include <sley/io.h>

/* For what is static there; each has a renew(), for a child of fork(). */
#undef FORK_PART
#define FORK_PART(rank, ...) struct fork_part
#define renew(none) renew_reactors(none)
#include "io/reactor.c"
#undef renew
#define renew(none) renew_thread_waits(none)
#include "io/thread_wait.c"
#undef renew

#include "epoll_only.h"
#include "io_parts.h"

#define EPOLL 8
#define EVENTFD 9

static struct io_descriptor *const place = &places[FD];
static struct reactor reactor;

/* ---- the kernel ------------------------------------------------------------------- */

#define EDGES_END (1u << 16)

static uint32_t calls; /* each call of the kernel is one operation here */
static uint32_t edges; /* how many were queued, and EDGES_END           */
static uint32_t opens, closes; /* of the number                         */
static uint32_t announced;     /* by the closer, before its close       */
static struct kernel {
	bool open;
	int file; /* how often the number was opened */
	int units;
	bool end, room;
	bool registered, queued;
	bool signalled; /* the eventfd */
} kernel;
static struct ledger {
	int got, ends, bad, gave_up, closed; /* results of calls */
	int left;                            /* callers that are not done */
} ledger;

static void enter_kernel(void)
{
	(void)add_relaxed(&calls, 1);
}

/* In the kernel: something has changed. */
static void queue_edge(void)
{
	if (!kernel.registered || kernel.queued)
		return;
	kernel.queued = true;
	(void)add_relaxed(&edges, 1);
}

static bool has_something(void)
{
	return kernel.units || kernel.end || kernel.room;
}

static void deliver(int units, bool end)
{
	enter_kernel();
	kernel.units += units;
	kernel.end = kernel.end || end;
	queue_edge();
}

static void make_room(void)
{
	enter_kernel();
	kernel.room = true;
	queue_edge();
}

static void open_again(void)
{
	enter_kernel();
	MODEL_CHECK(!kernel.open);
	kernel = (struct kernel){ .open = true, .file = kernel.file + 1 };
	(void)add_relaxed(&opens, 1);
}

int os_edges_add(int epoll, int fd)
{
	enter_kernel();
	MODEL_CHECK(epoll == EPOLL && fd == FD);
	if (!kernel.open)
		return -EBADF;
	if (kernel.registered)
		return 0;
	kernel.registered = true;
	if (has_something())
		queue_edge();
	return 0;
}

void os_edges_remove(int epoll, int fd)
{
	enter_kernel();
	MODEL_CHECK(epoll == EPOLL && fd == FD);
	kernel.registered = kernel.queued = false;
}

int os_edges_take(int epoll, struct os_edge *out, int max)
{
	enter_kernel();
	MODEL_CHECK(epoll == EPOLL && max > 0);
	if (!kernel.queued)
		return 0;
	kernel.queued = false;
	*out = (struct os_edge){
		.fd = FD,
		.bits = (kernel.units || kernel.end ? OS_EDGE_IN : 0) |
			(kernel.room ? OS_EDGE_OUT : 0) |
			(kernel.end ? OS_EDGE_SPECIAL : 0),
	};
	return out->bits != 0;
}

/* The kind tells which file it is. */
static enum os_fd_kind kind_now(void)
{
	return kernel.file ? OS_FD_SOCKET : OS_FD_TCP;
}

struct os_fd_traits os_fd_traits(int fd)
{
	enter_kernel();
	MODEL_CHECK(fd == FD);
	return (struct os_fd_traits){
		.kind = kernel.open ? kind_now() : OS_FD_CLOSED,
		.nonblocking = true,
	};
}

short os_fd_poll(int fd, short events)
{
	enter_kernel();
	MODEL_CHECK(fd == FD && events == (POLLIN | POLLOUT));
	if (!kernel.open)
		return POLLNVAL;
	return (short)((kernel.units || kernel.end ? POLLIN : 0) |
		       (kernel.room ? POLLOUT : 0));
}

int os_fd_set_nonblocking(int fd)
{
	(void)fd;
	return 0;
}

int file_close(int fd, uint32_t traits)
{
	(void)traits;
	enter_kernel();
	MODEL_CHECK(fd == FD);
	if (!kernel.open)
		return -EBADF;
	kernel = (struct kernel){ .file = kernel.file };
	(void)add_relaxed(&closes, 1);
	return 0;
}

int os_eventfd_create(void)
{
	return EVENTFD;
}

void os_eventfd_signal(int fd)
{
	enter_kernel();
	MODEL_CHECK(fd == EVENTFD);
	kernel.signalled = true;
}

bool os_fd_wait(int fd, short events, int second, uint64_t deadline_ns)
{
	MODEL_CHECK(fd == FD && events == POLLIN && second == EVENTFD);
	MODEL_CHECK(deadline_ns == UINT64_MAX);
	for (;;) {
		enter_kernel();
		if (kernel.signalled || !kernel.open)
			return false;
		if (kernel.units || kernel.end)
			return true;
		spin_hint(&calls);
	}
}

void os_close(int fd)
{
	MODEL_CHECK(fd == EVENTFD);
}

/* ---- setup ---------------------------------------------------------------------------- */

static void setup_with(int callers, bool known, enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(place, 0, sizeof(*place));
	memset(sley__descriptors, 0, sizeof(sley__descriptors[0]));
	sley__descriptors[0] = places;
	calls = edges = opens = closes = announced = 0;
	kernel = (struct kernel){ .open = true, .registered = known };
	ledger = (struct ledger){ .left = callers };
	model_ledger(&kernel, sizeof(kernel));
	model_ledger(&ledger, sizeof(ledger));
	renew_reactors();
	model_lock_word(&reactors.lock[0].word);
	renew_thread_waits();
	reactor = (struct reactor){ .epoll = EPOLL };
	reactors.epoll[0] = EPOLL;
	task_runtime.part[RUNTIME_REACTOR] = &reactor;
	place->reactors = known;
	model_lock_word(&lock.word);
	for (int i = 0; i < NR_IO_DIRECTIONS; i++)
		model_lock_word(&place->side[i].q.word);
	model_name(&calls, "kernel");
	model_name(&edges, "edges");
	model_name(&place->users, "users");
	model_name(&place->traits, "traits");
	model_name(&place->reactors, "reactors");
	model_name(&place->side[IO_IN].q.word, "in");
	model_name(&place->side[IO_OUT].q.word, "out");
	model_name(&place->side[IO_IN].empty, "in.empty");
	model_name(&place->side[IO_OUT].empty, "out.empty");
}

static void setup_known(void)
{
	setup_with(1, true, 0);
}

static void setup_unknown(void)
{
	setup_with(1, false, 0);
}

static void setup_no_place(void)
{
	setup_unknown();
	sley__descriptors[0] = NULL;
}

static void setup_timed(void)
{
	setup_with(1, true, TASKS_TIMED);
}

static void setup_two(void)
{
	setup_with(2, true, 0);
}

static void setup_two_unknown(void)
{
	setup_with(2, false, 0);
}

/* ---- callers --------------------------------------------------------------------------- */

struct read_call {
	struct io_call call;
	int file; /* of the first attempt, from 1 on */
};

/* No other file comes under a call, and the traits are those of the file. */
static void check_file(struct io_call *call)
{
	struct read_call *read = container_of(call, struct read_call, call);

	MODEL_CHECK(!read->file || read->file == 1 + kernel.file);
	read->file = 1 + kernel.file;
	MODEL_CHECK(traits_kind(call->traits) == kind_now());
}

/* A unit, as a message. */
static ssize_t attempt_unit(struct io_call *call)
{
	enter_kernel();
	if (!kernel.open)
		return -EBADF;
	check_file(call);
	if (!kernel.units)
		return kernel.end ? 0 : -EAGAIN;
	kernel.units--;
	return 1;
}

/* All that is there, of a stream: less than was asked for. */
static ssize_t attempt_bytes(struct io_call *call)
{
	ssize_t n;

	enter_kernel();
	if (!kernel.open)
		return -EBADF;
	check_file(call);
	n = kernel.units;
	kernel.units = 0;
	call->emptied = n > 0;
	return n || kernel.end ? n : -EAGAIN;
}

static ssize_t read_with(ssize_t (*attempt)(struct io_call *),
			 uint64_t deadline_ns)
{
	struct read_call read = {
		.call = { .fd = FD,
			  .direction = IO_IN,
			  .deadline_ns = deadline_ns,
			  .attempt = attempt },
	};
	ssize_t result = io_call(&read.call);

	/* relaxed: the caller learns of the close, and of what came before. */
	MODEL_CHECK(result != -EBADF || load_relaxed(&announced));
	ledger.got += result > 0 ? (int)result : 0;
	ledger.ends += result == 0;
	ledger.bad += result == -EBADF;
	ledger.gave_up += result == -ETIMEDOUT || result == -ECANCELED;
	MODEL_CHECK(result >= 0 || result == -EBADF || result == -ETIMEDOUT ||
		    result == -ECANCELED);
	return result;
}

/* A caller has made its last call; the reactor ends with the last caller. */
static void leave_scene(void)
{
	if (--ledger.left == 0)
		(void)add_relaxed(&edges, EDGES_END);
}

static void reader(int id)
{
	task_begin(id);
	(void)read_with(attempt_unit, UINT64_MAX);
	leave_scene();
}

static void reader_of_two(int id)
{
	task_begin(id);
	(void)read_with(attempt_unit, UINT64_MAX);
	(void)read_with(attempt_unit, UINT64_MAX);
	leave_scene();
}

/* Until the end of the stream. */
static void stream_reader(int id)
{
	task_begin(id);
	while (read_with(attempt_bytes, UINT64_MAX) > 0)
		continue;
	leave_scene();
}

static void reader_soon(int id)
{
	task_begin(id);
	(void)read_with(attempt_unit, LATER);
	leave_scene();
}

static void thread_reader(int id)
{
	(void)id;
	(void)read_with(attempt_unit, UINT64_MAX);
}

static void cancel_first(int id)
{
	(void)id;
	task_end_wait(0);
}

/* ---- the reactor, and the network ------------------------------------------------------- */

static void react(void)
{
	uint32_t seen = 0;

	task_begin(model_thread());
	for (;;) {
		/* relaxed: the kernel orders nothing. */
		uint32_t now = load_relaxed(&edges);

		if (now & EDGES_END)
			return;
		if (now == seen) {
			spin_hint(&edges);
			continue;
		}
		seen = now;
		while (has(&reactor))
			(void)take(&reactor);
	}
}

static void only_reactor(int id)
{
	(void)id;
	react();
}

static void one_unit(int id)
{
	(void)id;
	deliver(1, false);
	react();
}

static void two_units(int id)
{
	(void)id;
	deliver(2, false);
	react();
}

static void unit_and_end(int id)
{
	(void)id;
	deliver(1, true);
	react();
}

static void one_by_one(int id)
{
	(void)id;
	deliver(1, false);
	deliver(1, false);
}

static void unit_then_end(int id)
{
	(void)id;
	deliver(1, false);
	deliver(0, true);
}

static void nothing_waits(void)
{
	MODEL_CHECK(place->users == 0);
	for (int i = 0; i < NR_IO_DIRECTIONS; i++) {
		MODEL_CHECK(!place->side[i].q.first);
		MODEL_CHECK(!(place->side[i].q.word & WAITQ_LOCK));
	}
	tasks_check();
}

static void got_one(void)
{
	nothing_waits();
	MODEL_CHECK(ledger.got == 1 && kernel.units == 0);
}

static void got_two(void)
{
	nothing_waits();
	MODEL_CHECK(ledger.got == 2 && kernel.units == 0);
}

static void got_one_and_the_end(void)
{
	nothing_waits();
	MODEL_CHECK(ledger.got == 1 && ledger.ends == 1);
}

static void got_it_or_left_it(void)
{
	nothing_waits();
	MODEL_CHECK(ledger.got + ledger.gave_up == 1);
	MODEL_CHECK(ledger.got + kernel.units == 1);
}

MODEL(a_reader_hears_of_a_unit, .setup = setup_known,
      .threads = { reader, one_unit }, .finish = got_one);
MODEL(a_reader_hears_of_a_unit_that_came_before, .setup = setup_unknown,
      .threads = { reader, one_unit }, .finish = got_one);
MODEL(a_reader_hears_of_two_units, .setup = setup_known,
      .threads = { reader_of_two, one_by_one, only_reactor },
      .finish = got_two);
MODEL(two_readers_hear_of_one_edge, .setup = setup_two,
      .threads = { reader, reader, two_units }, .finish = got_two,
      .slow_modes = MODEL_SC | MODEL_RA);
MODEL(two_readers_that_are_not_known, .setup = setup_two_unknown, .slow = true,
      .threads = { reader, reader, two_units }, .finish = got_two);
MODEL(an_end_that_comes_with_a_unit_is_seen, .setup = setup_known,
      .threads = { stream_reader, unit_and_end },
      .finish = got_one_and_the_end);
MODEL(an_end_that_comes_with_a_unit_is_seen_late, .setup = setup_unknown,
      .threads = { stream_reader, unit_and_end },
      .finish = got_one_and_the_end);
MODEL(an_end_that_comes_after_a_unit_is_seen, .setup = setup_known,
      .threads = { stream_reader, unit_then_end, only_reactor },
      .finish = got_one_and_the_end);
MODEL(a_cancel_takes_nothing, .setup = setup_known,
      .threads = { reader, one_unit, cancel_first },
      .finish = got_it_or_left_it);
MODEL(a_deadline_takes_nothing, .setup = setup_timed,
      .threads = { reader_soon, one_unit }, .finish = got_it_or_left_it);

/* ---- closing ------------------------------------------------------------------------------ */

static struct payload owned; /* of the program: calls of the descriptor use it */

/* A call that begins after the close finds no file, and does not look there. */
static ssize_t attempt_owned(struct io_call *call)
{
	ssize_t result = attempt_unit(call);

	if (result != -EBADF)
		payload_check(&owned);
	return result;
}

static void close_it(void)
{
	int err;

	/* relaxed: the close publishes it. */
	store_relaxed(&announced, 1);
	err = descriptor_close(FD);
	MODEL_CHECK(err == 0 || err == -EBADF);
	ledger.closed += err == 0;
	ledger.bad += err != 0;
}

static void closer(int id)
{
	task_begin(id);
	close_it();
}

static void thread_closer(int id)
{
	(void)id;
	close_it();
}

/* What the calls of the descriptor use goes after it. */
static void owner(int id)
{
	task_begin(id);
	close_it();
	model_access(&owned.value);
	owned.value = 0;
}

static void owned_reader(int id)
{
	task_begin(id);
	(void)read_with(attempt_owned, UINT64_MAX);
}

static void closed_once(void)
{
	nothing_waits();
	MODEL_CHECK(!kernel.open && ledger.closed == 1);
	MODEL_CHECK(place->reactors == 0 && place->traits == 0);
	MODEL_CHECK(ledger.got + ledger.bad + ledger.gave_up == 1);
}

static void closed_beside_two(void)
{
	nothing_waits();
	MODEL_CHECK(!kernel.open && ledger.closed == 1);
	MODEL_CHECK(ledger.bad == 2);
}

/* As often as a call can begin: the last begins before, during or after the close. */
MODEL(a_close_ends_a_read, .setup = setup_known, .threads = { reader, closer },
      .finish = closed_once);
MODEL(a_close_ends_the_first_read, .setup = setup_unknown,
      .threads = { reader, closer }, .finish = closed_once);
MODEL(a_close_ends_the_first_read_of_all, .setup = setup_no_place,
      .threads = { reader, closer }, .finish = closed_once);
MODEL(a_close_by_a_thread_ends_a_read, .setup = setup_known,
      .threads = { reader, thread_closer }, .finish = closed_once);
MODEL(a_close_ends_the_read_of_a_thread, .setup = setup_unknown,
      .threads = { thread_reader, thread_closer }, .finish = closed_once);
MODEL(a_close_against_a_unit, .setup = setup_known,
      .threads = { reader, closer, one_unit }, .finish = closed_once);
MODEL(a_close_against_a_cancel, .setup = setup_known,
      .threads = { reader, closer, cancel_first }, .finish = closed_once);
MODEL(a_close_against_a_deadline, .setup = setup_timed,
      .threads = { reader_soon, closer }, .finish = closed_once);
/* There is never room. */
static ssize_t attempt_write(struct io_call *call)
{
	enter_kernel();
	if (!kernel.open)
		return -EBADF;
	check_file(call);
	return -EAGAIN;
}

static void writer(int id)
{
	struct read_call write = {
		.call = { .fd = FD,
			  .direction = IO_OUT,
			  .deadline_ns = UINT64_MAX,
			  .attempt = attempt_write },
	};

	task_begin(id);
	MODEL_CHECK(io_call(&write.call) == -EBADF);
	ledger.bad++;
}

MODEL(a_close_ends_a_write, .setup = setup_known, .threads = { writer, closer },
      .finish = closed_once);

static void setup_owned(void)
{
	setup_known();
	owned.value = PAYLOAD;
}

MODEL(what_a_call_uses_may_go_after_the_close, .setup = setup_owned,
      .threads = { owned_reader, owner }, .finish = closed_once);
MODEL(one_of_two_closers_closes, .setup = setup_known,
      .threads = { closer, closer }, .finish = closed_once);
MODEL(one_of_two_closers_closes_beside_a_reader, .setup = setup_known,
      .threads = { reader, closer, closer }, .finish = closed_beside_two,
      .slow_modes = MODEL_SC | MODEL_RA);

/* ---- two reactors ----------------------------------------------------------------------------- */

static void add_and_drop(int id)
{
	descriptor_add_reactors(place, 1u << id);
	descriptor_add_reactors(place, 4u << id);
	MODEL_CHECK(descriptor_drop_reactors(place, 1u << id));
}

static void both_are_known(void)
{
	MODEL_CHECK(place->reactors == (4u | 8u));
}

MODEL(two_reactors_have_a_bit_each, .setup = setup_unknown,
      .threads = { add_and_drop, add_and_drop }, .finish = both_are_known);

/* ---- the number is used again --------------------------------------------------------------- */

/* Another thread gets the number from the kernel, as soon as it is free. */
static void next_owner(int id)
{
	task_begin(id);
	/* relaxed: the kernel orders nothing. */
	while (!load_relaxed(&closes))
		spin_hint(&closes);
	open_again();
	MODEL_CHECK(read_with(attempt_unit, UINT64_MAX) == 1);
	close_it();
	leave_scene();
}

/* Closes, and is the network and the reactor from then on. */
static void first_owner(int id)
{
	task_begin(id);
	close_it();
	/* relaxed: the kernel orders nothing. */
	while (!load_relaxed(&opens))
		spin_hint(&opens);
	deliver(1, false);
	react();
}

/* The first owner, or its reader, has used the first file. */
static void setup_used(void)
{
	setup_known();
	place->traits = TRAIT_KNOWN | (uint32_t)OS_FD_TCP;
	place->side[IO_IN].q.word = SIDE_EDGE | SIDE_SPECIAL;
	place->side[IO_IN].empty = 2;
}

static void closed_twice(void)
{
	nothing_waits();
	MODEL_CHECK(!kernel.open && ledger.closed == 2 && ledger.got == 1);
	MODEL_CHECK(!(place->side[IO_IN].q.word & SIDE_SPECIAL));
	MODEL_CHECK(place->reactors == 0 && place->traits == 0);
}

MODEL(a_number_that_is_used_again_starts_anew, .setup = setup_used,
      .threads = { first_owner, next_owner }, .finish = closed_twice);

/* ---- both directions -------------------------------------------------------------------------- */

static void poll_until(uint64_t deadline_ns)
{
	int result = sley_io_poll_until(FD, POLLIN | POLLOUT, deadline_ns);

	ledger.got += result > 0;
	ledger.bad += result == -EBADF;
	ledger.gave_up += result == -ETIMEDOUT || result == -ECANCELED;
}

static void poller(int id)
{
	task_begin(id);
	poll_until(UINT64_MAX);
	leave_scene();
}

static void poller_soon(int id)
{
	task_begin(id);
	poll_until(LATER);
	leave_scene();
}

static void either(int id)
{
	(void)id;
	if (model_choose(2))
		make_room();
	else
		deliver(1, false);
	react();
}

static void both(int id)
{
	(void)id;
	make_room();
	deliver(1, false);
	react();
}

static void polled(void)
{
	nothing_waits();
	MODEL_CHECK(ledger.got + ledger.gave_up == 1 && !ledger.bad);
}

static void polled_for_sure(void)
{
	MODEL_CHECK(!ledger.gave_up);
	polled();
}

MODEL(a_poll_hears_of_either, .setup = setup_known,
      .threads = { poller, either }, .finish = polled_for_sure);
MODEL(a_poll_hears_of_either_that_came_before, .setup = setup_unknown,
      .threads = { poller, either }, .finish = polled_for_sure);
MODEL(a_poll_hears_of_both, .setup = setup_known, .threads = { poller, both },
      .finish = polled_for_sure);
MODEL(a_poll_against_a_cancel, .setup = setup_known,
      .threads = { poller, either, cancel_first }, .finish = polled);
MODEL(a_poll_against_a_deadline, .setup = setup_timed,
      .threads = { poller_soon, either }, .finish = polled);
MODEL(a_close_ends_a_poll, .setup = setup_known, .threads = { poller, closer },
      .finish = closed_once);
MODEL(a_close_ends_the_first_poll, .setup = setup_unknown,
      .threads = { poller, closer }, .finish = closed_once);
