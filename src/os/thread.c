/* SPDX-License-Identifier: MIT */
/*
 * thread.c - pthreads, with a signal mask and a name.
 *
 * A new thread inherits its creator's mask, so the creator puts on the mask
 * that the thread shall have and takes it off again.  Setting the mask in the
 * thread would leave a window in which a signal for the process runs its handler
 * there, possibly on a stack that is far too small for the handler.
 */
#include "os/thread.h"

#include "base/assert.h"
#include "base/fault_lock.h"
#include "os/fault.h"
#include "os/at_fork.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREAD_NAME_SIZE 16 /* with the zero, says the kernel */

/*
 * Signals that an instruction of the thread itself raises.  A blocked signal
 * would kill the process without running the handler that explains why.
 */
static const int synchronous[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP,
};

/*
 * Signals that a system call of the thread itself raises: a write to a pipe
 * without a reader, or beyond the limit of a file.  Most programs want to die of
 * these signals, and a filter that does not die writes for ever.
 */
static const int of_a_call[] = { SIGPIPE, SIGXFSZ };

/* @runs_code: the thread runs code of the program, which decides about SIGPIPE. */
static void block_signals(sigset_t *old, bool runs_code)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, old);
	sigfillset(&mask);
	for (size_t i = 0; i < array_size(synchronous); i++)
		sigdelset(&mask, synchronous[i]);
	for (size_t i = 0; runs_code && i < array_size(of_a_call); i++) {
		if (!sigismember(old, of_a_call[i]))
			sigdelset(&mask, of_a_call[i]);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* The thread never runs anywhere else, and the creator learns of a failure. */
static int create(pthread_t *out, void *(*fn)(void *), void *arg,
		  const struct sley_cpus *cpus)
{
	pthread_attr_t attributes;
	int err;

	/* fault: in thread.h, for each caller. */
	if (!cpus)
		return pthread_create(out, NULL, fn, arg);
	err = fault_error("pthread_attr_init", ENOMEM)
		      ?: pthread_attr_init(&attributes);
	if (err)
		return err;
	err = fault_error("pthread_attr_setaffinity_np", ENOMEM)
		      ?: pthread_attr_setaffinity_np(
				 &attributes, sizeof(*cpus),
				 (const cpu_set_t *)cpus->word);
	if (!err)
		err = fault_error("pthread_create", EINVAL)
			      ?: pthread_create(out, &attributes, fn, arg);
	(void)pthread_attr_destroy(&attributes);
	return err;
}

int(os_thread_start_on)(pthread_t *out, const char *name, void *(*fn)(void *),
			void *arg, const struct sley_cpus *cpus, bool runs_code)
{
	char short_name[THREAD_NAME_SIZE];
	int saved = errno, err;
	pthread_t thread;
	sigset_t old;

	block_signals(&old, runs_code);
	err = create(&thread, fn, arg, cpus);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err) {
		/* Only for the eyes; without /proc there is no name. */
		snprintf(short_name, sizeof(short_name), "%s", name);
		(void)(fault_error("pthread_setname_np", ENOENT)
			       ?: pthread_setname_np(thread, short_name));
		*out = thread;
	}
	errno = saved;
	return -err;
}

int(os_thread_start)(pthread_t *out, const char *name, void *(*fn)(void *),
		     void *arg)
{
	return (os_thread_start_on)(out, name, fn, arg, NULL, false);
}

void os_thread_get_signals(struct os_signals *out)
{
	pthread_sigmask(SIG_SETMASK, NULL, &out->blocked);
}

void os_thread_set_signals(const struct os_signals *signals)
{
	pthread_sigmask(SIG_SETMASK, &signals->blocked, NULL);
}

void os_thread_join(pthread_t thread)
{
	int err = pthread_join(thread, NULL);

	if (unlikely(err))
		sley_fatal("cannot join a thread: %s", strerror(err));
}

void os_thread_yield(void)
{
	sched_yield(); /* cannot fail on Linux */
}

/* ---- the end of a thread -------------------------------------------------------- */

static pthread_mutex_t keys_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_keys(void)
{
	fault_lock(pthread_mutex_lock(&keys_lock));
}

static void unlock_keys(void)
{
	pthread_mutex_unlock(&keys_lock);
}

FORK_PART(FORK_KEYS, .lock = lock_keys, .unlock = unlock_keys);

/* Under the lock: where a key could not be made, the next call may have luck. */
static struct exit_key {
	pthread_key_t key;
	bool made;
} exit_key, guard_key;

/* POSIX lets a function pointer pass through a void pointer. */
static void run_exit(void *fn)
{
	((void (*)(void))(uintptr_t)fn)();
}

static int exit_key_make(struct exit_key *k)
{
	/* fault: in the callers */
	int err = pthread_key_create(&k->key, run_exit);

	k->made = !err;
	return err;
}

int os_thread_at_exit(void (*fn)(void))
{
	int err = 0;

	lock_keys();
	if (!exit_key.made)
		err = fault_error("pthread_key_create", EAGAIN, ENOMEM)
			      ?: exit_key_make(&exit_key);
	unlock_keys();
	if (!err)
		err = fault_error("pthread_setspecific", ENOMEM)
			      ?: pthread_setspecific(exit_key.key,
						     (void *)(uintptr_t)fn);
	return -err;
}

int os_thread_no_cancel(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void os_thread_cancel_again(int state)
{
	pthread_setcancelstate(state, NULL);
}

void os_thread_guard(struct os_guarded *out, void (*fn)(void))
{
	int err = 0;

	lock_keys();
	if (!guard_key.made)
		err = exit_key_make(&guard_key);
	unlock_keys();
	/* fault: best effort; without it the end of the thread goes unnoticed */
	if (!err)
		(void)pthread_setspecific(guard_key.key, (void *)(uintptr_t)fn);
	out->cancel_state = os_thread_no_cancel();
}

void os_thread_unguard(const struct os_guarded *guarded)
{
	/* fault: best effort, as above */
	if (guard_key.made)
		(void)pthread_setspecific(guard_key.key, NULL);
	os_thread_cancel_again(guarded->cancel_state);
}

int os_thread_id(void)
{
	/* In a child of fork() the thread has another number. */
	static _Thread_local struct {
		unsigned int generation;
		int id;
	} known __attribute__((tls_model("initial-exec")));
	unsigned int generation = os_fork_generation();

	if (unlikely(!known.id || known.generation != generation)) {
		known.id = (int)gettid();
		known.generation = generation;
	}
	return known.id;
}
