/* SPDX-License-Identifier: MIT */
/*
 * signal.c - catching SIGSEGV and SIGBUS, and the stack to do it on.
 */
#include "os/signal.h"

#include "base/assert.h"
#include "os/fault.h"
#include "os/map.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* Room for handlers of others that we pass a fault on to. */
#define ALT_STACK_ROOM (32u << 10)

static const int fault_signals[] = { SIGSEGV, SIGBUS };

/* Written while no handler of ours is installed, or by a dying process. */
static os_fault_fn *fault_fn;
static struct sigaction previous_actions[array_size(fault_signals)];
/* Also after the release, if others came after us and may pass on to us. */
static bool is_in_chain[array_size(fault_signals)];

static void fault_die(int number, const siginfo_t *info)
{
	signal(number, SIG_DFL);
	/* A fault happens again on return; a signal that was sent does not. */
	if (info->si_code <= 0)
		raise(number);
}

static const struct sigaction *previous_of(int number)
{
	return &previous_actions[number == SIGSEGV ? 0 : 1];
}

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) &&
	       action->sa_handler == SIG_DFL;
}

static void fault_pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *previous = previous_of(number);

	if (previous->sa_flags & SA_SIGINFO)
		previous->sa_sigaction(number, info, context);
	else if (previous->sa_handler == SIG_DFL)
		fault_die(number, info);
	else if (previous->sa_handler != SIG_IGN)
		previous->sa_handler(number);
	else if (info->si_code > 0)
		fault_die(number, info); /* a fault cannot be ignored */
}

static void fault_handler(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	if (info->si_code > 0 &&
	    fault_fn((uintptr_t)info->si_addr, is_default(previous_of(number))))
		fault_die(number, info);
	else
		fault_pass_on(number, info, context);
	errno = saved_errno;
}

/* First learn the previous handler: a fault may come at any time. */
static bool fault_catch_one(size_t i, const struct sigaction *action)
{
	int number = fault_signals[i];

	if (fault_errno("sigaction", EPERM) ||
	    sigaction(number, NULL, &previous_actions[i]))
		return false;
	return !fault_errno("sigaction", EPERM) &&
	       !sigaction(number, action, NULL);
}

void os_fault_catch(os_fault_fn *fn)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = fault_handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	fault_fn = fn;
	for (size_t i = 0; i < array_size(fault_signals); i++) {
		/* Installed twice, we and later handlers would pass on in a circle. */
		if (!is_in_chain[i])
			is_in_chain[i] = fault_catch_one(i, &action);
	}
}

/* False: a later handler is installed, or the kernel refuses. */
static bool fault_release_one(size_t i)
{
	int number = fault_signals[i];
	struct sigaction now;

	if (fault_errno("sigaction", EPERM) || sigaction(number, NULL, &now) ||
	    !(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != fault_handler)
		return false;
	return !fault_errno("sigaction", EPERM) &&
	       !sigaction(number, &previous_actions[i], NULL);
}

void os_fault_release(void)
{
	for (size_t i = 0; i < array_size(fault_signals); i++) {
		if (is_in_chain[i] && fault_release_one(i))
			is_in_chain[i] = false;
	}
}

void os_alt_stack_set(struct os_alt_stack *stack)
{
	size_t minimum = (size_t)getauxval(AT_MINSIGSTKSZ);
	size_t page_size = os_page_size();
	stack_t alt, old;

	stack->memory = NULL;
	stack->size = 0;
	if (fault_errno("sigaltstack", EPERM) || sigaltstack(NULL, &old) ||
	    !(old.ss_flags & SS_DISABLE))
		return;
	if (minimum < (size_t)MINSIGSTKSZ)
		minimum = (size_t)MINSIGSTKSZ;
	stack->size = minimum + ALT_STACK_ROOM;
	stack->size = (stack->size + page_size - 1) & ~(page_size - 1);
	stack->memory = os_map(stack->size);
	if (!stack->memory)
		return;
	memset(&alt, 0, sizeof(alt));
	alt.ss_sp = stack->memory;
	alt.ss_size = stack->size;
	if (fault_errno("sigaltstack", ENOMEM) || sigaltstack(&alt, NULL)) {
		os_unmap(stack->memory, stack->size);
		stack->memory = NULL;
	}
}

void os_alt_stack_unset(struct os_alt_stack *stack)
{
	bool off_now;
	stack_t now, off;

	if (!stack->memory)
		return;
	memset(&off, 0, sizeof(off));
	off.ss_flags = SS_DISABLE;
	/* The program may have replaced the stack by a stack of its own. */
	off_now = !fault_errno("sigaltstack", EPERM) &&
		  !sigaltstack(NULL, &now) &&
		  (now.ss_sp != stack->memory ||
		   !(fault_errno("sigaltstack", EPERM) ||
		     sigaltstack(&off, NULL)));
	/* A stack that the kernel may still use is lost. */
	if (off_now)
		os_unmap(stack->memory, stack->size);
	stack->memory = NULL;
}

void os_print_error(const char *text, size_t size)
{
	/* A failure here cannot be reported. */
	while (size) {
		ssize_t done = fault_errno("write", EIO, EINTR)
				       ? -1
				       : write(STDERR_FILENO, text, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		size -= (size_t)done;
	}
}
