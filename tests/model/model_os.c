/* SPDX-License-Identifier: MIT */
/*
 * model_os.c - src/os for model builds: the calls of the operating system that
 * the explored sources make, and the last words of base/assert.h.
 *
 * machine.c says what they mean.  Waits return only when woken, when the value
 * differs, or at a deadline; spurious returns are not explored, since then no
 * wake-up could be seen to be lost.
 */
#include "base/assert.h"
#include "base/atomic.h"
#include "engine.h"
#include "lf/spin.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/futex.h"
#include "os/map.h"
#include "os/membarrier.h"
#include "os/at_fork.h"
#include "os/symbol.h"
#include "os/text.h"
#include "os/thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define HERE(name, what) "os call\0" name "\0" what

#undef os_futex_wait
#undef os_futex_wake
#undef os_membarrier

static const char *here; /* where the call is made that comes next */

void model_here(const char *site)
{
	here = site;
}

/* A caller that did not say it has the name only. */
static const char *site_of_call(const char *name)
{
	const char *site = here ? here : name;

	here = NULL;
	return site;
}

int os_futex_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
	struct op op = { .kind = OP_FUTEX_WAIT,
			 .addr = (char *)(uintptr_t)word,
			 .size = sizeof(*word),
			 .value = expected,
			 .deadline = deadline_ns,
			 .site = site_of_call(HERE("futex_wait", "*word")) };

	if (!machine_post(&op))
		return 0;
	op.kind = OP_FUTEX_UNBLOCK;
	return machine_post(&op) ? -ETIMEDOUT : 0;
}

void os_futex_wake(const uint32_t *word, int nr)
{
	struct op op = { .kind = OP_FUTEX_WAKE,
			 .addr = (char *)(uintptr_t)word,
			 .size = sizeof(*word),
			 .value = nr > 0 ? (uint64_t)nr : 0,
			 .site = site_of_call(HERE("futex_wake", "*word")) };

	machine_post(&op);
}

/* Only the model of the poller has an eventfd. */
__attribute__((weak)) void os_eventfd_signal(int fd)
{
	(void)fd;
	MODEL_CHECK(!"there is no eventfd");
}

/* No model forks. */
void os_fork_register(enum fork_rank rank, const struct fork_part *part)
{
	(void)rank;
	(void)part;
}

/* No model thread ends early. */
/* A thread that spins: no model has one. */
void os_thread_yield(void)
{
}

int os_thread_no_cancel(void)
{
	return 0;
}

void os_thread_cancel_again(int state)
{
	(void)state;
}

void os_thread_guard(struct os_guarded *out, void (*fn)(void))
{
	(void)out;
	(void)fn;
}

void os_thread_unguard(const struct os_guarded *guarded)
{
	(void)guarded;
}

/* No model gives names. */
bool os_peek(void *out, const void *address, size_t size)
{
	(void)out;
	(void)address;
	(void)size;
	return false;
}

void os_symbol(char *out, size_t size, const void *code)
{
	(void)code;
	if (size)
		*out = '\0';
}

bool os_text_read(char *text, size_t size, const char *format, ...)
{
	(void)text;
	(void)size;
	(void)format;
	return false;
}

int os_thread_id(void)
{
	return model_thread() + 1;
}

bool os_membarrier_setup(void)
{
	return !engine.model->no_membarrier;
}

void os_membarrier(void)
{
	struct op op = { .kind = OP_BARRIER_START,
			 .site = site_of_call(HERE("membarrier", "")) };

	MODEL_CHECK(!engine.model->no_membarrier);
	machine_post(&op);
	op.kind = OP_BARRIER_END;
	op.site = HERE("membarrier returns", "");
	machine_post(&op);
}

uint64_t os_now(void)
{
	struct op op = { .kind = OP_NOW, .site = HERE("now", "") };

	return machine_post(&op);
}

/* As late as it may be: the exact clock decides, and this look is no operation. */
uint64_t os_now_coarse(void)
{
	return 0;
}

unsigned int os_fork_generation(void)
{
	return 0; /* nobody forks */
}

void sley__assert_failed(const char *expr, const char *file, int line)
{
	model_fail(MODEL_ASSERTION, "%s:%d: %s", file, line, expr);
}

void sley__misuse(const char *function, const char *rule)
{
	model_fail(MODEL_ASSERTION, "misuse in %s: %s", function, rule);
}

void sley__fatal(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	model_fail(MODEL_ASSERTION, "fatal: %s", text);
}
