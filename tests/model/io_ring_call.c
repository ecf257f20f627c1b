/* SPDX-License-Identifier: MIT */
/*
 * io_ring_call.c - src/io/ring_call.c: a caller of the ring leaves after the completion,
 * whatever ends its wait.
 *
 * The kernel is a model thread.  A cancel that comes before the call has begun takes
 * the call back; a cancel that comes later does nothing, and is answered nevertheless.
 * A call that the kernel has begun reads and writes plain memory of the caller, so a
 * caller that left before is a race.  The kernel takes its completions as well, by the
 * very lines of the taker.
 *
 * Complete for one call with a deadline, where the kernel takes the cancel and where it
 * does not; for callers that are refused, or find no place until their deadline; within
 * three delays, in SC and TSO, for two callers that share one place.  A cancel of the
 * task is not modelled: it takes the path of the deadline.  Not seen: two takers
 * (core_source.c has one taker at a time), and the queues of the kernel
 * (os_uring_queue.c).
 */
#define RING_PLACES 1u
#include "payload.h"
#include "threads_only.h"

#include "io/ring_call.c"

#include "os/clock.h"
#include "os/futex.h"

#include <string.h>

#define SOON_NS 2000000000ull /* a deadline in virtual time: at any moment */
#define NR_CALLERS 2

/* ---- the kernel ------------------------------------------------------------------------ */

/* What the kernel knows of a call.  A cancel adds CANCEL. */
enum { NOTHING, SUBMITTED, BEGUN, ENDED, CANCEL = 4 };

static struct ring_calls calls;
static struct caller {
	uint32_t state; /* a futex */
	uint64_t mark;
	struct os_file_call file;
	struct payload given;  /* the kernel reads it   */
	struct payload answer; /* the kernel writes it  */
} callers[NR_CALLERS];
static bool refuses_cancels;
static bool lacks_the_call; /* the kernel is too old for it  */
static int submit_says;     /* 0: the kernel takes the call  */
static struct ledger {
	int returned[NR_CALLERS];
	int submissions;
} ledger;

bool os_uring_file_takes(const struct os_uring_file *ring,
			 const struct os_file_call *call)
{
	(void)ring;
	(void)call;
	return !lacks_the_call;
}

int os_uring_file_submit(struct os_uring_file *ring,
			 const struct os_file_call *call, uint64_t mark)
{
	struct caller *caller = container_of(call, struct caller, file);

	(void)ring;
	ledger.submissions++;
	if (submit_says)
		return submit_says;
	caller->mark = mark;
	store_release(&caller->state, SUBMITTED);
	os_futex_wake(&caller->state, 1);
	return 0;
}

/* The completion that a thread takes. */
static struct os_uring_done arrived[MODEL_THREADS_MAX];

unsigned int os_uring_file_take(struct os_uring_file *ring,
				struct os_uring_done *done, unsigned int max)
{
	MODEL_CHECK(ring == &calls.kernel && max > 1);
	*done = arrived[model_thread()];
	return 1;
}

static void completes(uint64_t mark, int result)
{
	arrived[model_thread()] = (struct os_uring_done){ mark, result };
	MODEL_CHECK(!ring_calls_take(&calls));
}

/* The kernel has ended before: it answers in the system call of the canceller. */
int os_uring_file_cancel(struct os_uring_file *ring, uint64_t mark,
			 uint64_t cancel_mark)
{
	struct caller *caller = &callers[model_thread()];

	(void)ring;
	MODEL_CHECK(mark == caller->mark);
	if (refuses_cancels)
		return -EBUSY;
	if (add_acq_rel(&caller->state, CANCEL) == ENDED)
		completes(cancel_mark, -ENOENT);
	return 0;
}

static void carry_out(struct caller *caller)
{
	uint64_t mark = caller->mark;
	uint32_t state = SUBMITTED;
	int result = -ECANCELED;

	if (cas_acq_rel(&caller->state, &state, BEGUN)) {
		payload_check(&caller->given);
		payload_write(&caller->answer);
		result = PAYLOAD;
	}
	state = xchg_acq_rel(&caller->state, ENDED);
	completes(mark, result);
	if (state & CANCEL)
		completes(mark | MARK_CANCEL, 0);
}

static void await_call(struct caller *caller)
{
	while (load_acquire(&caller->state) == NOTHING)
		(void)os_futex_wait(&caller->state, NOTHING, UINT64_MAX);
	carry_out(caller);
}

static void kernel_of_first(int id)
{
	(void)id;
	await_call(&callers[0]);
}

static void kernel_of_second(int id)
{
	(void)id;
	await_call(&callers[1]);
}

/* ---- callers --------------------------------------------------------------------------- */

static void call(int id, uint64_t deadline_ns)
{
	struct caller *caller = &callers[id];
	ssize_t result = 0;
	int err;

	payload_write(&caller->given);
	err = ring_call(&calls, &caller->file, deadline_ns, 0, &result);
	MODEL_CHECK(err == 0 || (err == -ETIMEDOUT && deadline_ns == SOON_NS));
	if (!err) {
		MODEL_CHECK(result == PAYLOAD);
		payload_check(&caller->answer);
	} else {
		MODEL_CHECK(caller->answer.value == 0);
	}
	/* The memory is the caller's own again. */
	payload_write(&caller->given);
	payload_write(&caller->answer);
	ledger.returned[id]++;
}

static void call_in_time(int id)
{
	call(id, SOON_NS);
}

static void call_for_ever(int id)
{
	call(id, UINT64_MAX);
}

/* ---- scenes ------------------------------------------------------------------------------ */

static void setup(void)
{
	memset(&calls, 0, sizeof(calls));
	memset(callers, 0, sizeof(callers));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	refuses_cancels = lacks_the_call = false;
	submit_says = 0;
	selves_set(&(struct self){ 0 });
	ring_calls_init(&calls);
	model_lock_word(&calls.submitting.word);
	model_lock_word(&calls.room.word);
}

static void setup_without_cancels(void)
{
	setup();
	refuses_cancels = true;
}

static void one_has_returned(void)
{
	MODEL_CHECK(calls.nr_places == RING_PLACES);
	MODEL_CHECK(ledger.returned[0] == 1);
}

static void both_have_returned(void)
{
	one_has_returned();
	MODEL_CHECK(ledger.returned[1] == 1);
}

MODEL(a_completion_comes_before_the_return, .setup = setup,
      .threads = { call_in_time, kernel_of_first }, .finish = one_has_returned,
      .slow_modes = MODEL_SC | MODEL_TSO);

MODEL(a_cancel_that_the_kernel_does_not_take, .setup = setup_without_cancels,
      .threads = { call_in_time, kernel_of_first }, .finish = one_has_returned,
      .slow_modes = MODEL_SC | MODEL_TSO);

MODEL(two_callers_share_a_place, .setup = setup, .delays = 3,
      .modes = MODEL_SC | MODEL_TSO,
      .threads = { call_for_ever, call_for_ever, kernel_of_first,
		   kernel_of_second },
      .finish = both_have_returned);

/* ---- callers that are refused ------------------------------------------------------------ */

/* @submissions of all calls until now. */
static void call_in_vain(uint64_t deadline_ns, int result, int submissions)
{
	ssize_t none;

	MODEL_CHECK(ring_call(&calls, &callers[0].file, deadline_ns, 0,
			      &none) == result);
	MODEL_CHECK(ledger.submissions == submissions);
}

static void is_refused(int id)
{
	(void)id;
	call_in_vain(1, -ETIMEDOUT, 0); /* a time that has passed */
	lacks_the_call = true;
	call_in_vain(UINT64_MAX, RING_REFUSES, 0);
	lacks_the_call = false;
	/* For now only; then for good, so that the kernel is not asked again. */
	submit_says = -EAGAIN;
	call_in_vain(UINT64_MAX, RING_REFUSES, 1);
	submit_says = -EPERM;
	call_in_vain(UINT64_MAX, RING_REFUSES, 2);
	call_in_vain(UINT64_MAX, RING_REFUSES, 2);
}

static void has_all_places(void)
{
	MODEL_CHECK(calls.nr_places == RING_PLACES);
}

MODEL(a_caller_that_is_refused_leaves_nothing_behind, .setup = setup,
      .threads = { is_refused }, .finish = has_all_places);

static void setup_without_places(void)
{
	setup();
	calls.nr_places = 0;
}

static void finds_no_place(int id)
{
	(void)id;
	call_in_vain(SOON_NS, -ETIMEDOUT, 0);
}

static void has_no_place(void)
{
	MODEL_CHECK(calls.nr_places == 0);
}

MODEL(a_caller_waits_for_a_place_until_its_deadline,
      .setup = setup_without_places, .threads = { finds_no_place },
      .finish = has_no_place);
