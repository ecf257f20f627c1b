/* SPDX-License-Identifier: MIT */
/*
 * overflow.c - the report of a fiber that ran out of stack, or that crashed otherwise
 * where no other handler takes the fault: which fiber it was.
 *
 * All functions that overflow_report() calls run in a signal handler: no
 * allocation, and no locks until the facts are out.
 */
#include "fiber/overflow.h"

#include "base/assert.h"
#include "base/fault_lock.h"
#include "fiber/fiber.h"
#include "os/map.h"
#include "os/at_fork.h"
#include "os/signal.h"
#include "os/symbol.h"

#include <pthread.h>

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nr_installed; /* under install_lock */

/* One line of output; text that does not fit is cut off. */
struct line {
	char text[256];
	size_t size;
};

static void line_add(struct line *line, const char *text)
{
	while (*text && line->size < sizeof(line->text))
		line->text[line->size++] = *text++;
}

static void line_add_number(struct line *line, size_t number)
{
	char digits[24];
	size_t first = sizeof(digits) - 1;

	digits[first] = '\0';
	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	line_add(line, &digits[first]);
}

static size_t stack_kib_for(size_t needed)
{
	size_t kib = 16;

	while (kib << 10 <= needed)
		kib *= 2;
	return kib;
}

static void overflow_print(const struct fiber *fiber, uintptr_t address)
{
	const char *name = label_name(fiber->label);
	const struct stack *stack = &fiber->stack;
	size_t needed = (uintptr_t)stack->low + stack->size - address;
	size_t page_size = os_page_size();
	/* Without the colour: the size that was asked for. */
	size_t size = (stack->size + page_size - 1) / page_size * page_size;
	struct line line = { .size = 0 };

	line_add(&line, "sley: stack overflow in fiber \"");
	line_add(&line, name ? name : "unnamed");
	line_add(&line, "\": its stack has ");
	line_add_number(&line, size >> 10);
	line_add(&line, " KiB and it needs more than ");
	line_add_number(&line, needed >> 10);
	line_add(&line, " KiB: set .stack_kib to at least ");
	line_add_number(&line, stack_kib_for(needed));
	line_add(&line, "\n");
	os_print_error(line.text, line.size);
}

/*
 * The function that the fiber ran.  After the facts: naming code takes a lock, and
 * if that lock was held when the fault came, the report ends here.
 */
static void overflow_print_code(const struct fiber *fiber)
{
	const void *place = label_place(fiber->label);
	struct line line = { .size = 0 };
	char text[96];

	if (!fiber->code)
		return;
	line_add(&line, "sley: task function ");
	os_symbol(text, sizeof(text), fiber->code);
	line_add(&line, text);
	if (place) {
		line_add(&line, ", spawned at ");
		os_symbol(text, sizeof(text), place);
		line_add(&line, text);
	}
	line_add(&line, "\n");
	os_print_error(line.text, line.size);
}

/* The function that the fiber runs, or has run last. */
static void crash_print(const struct fiber *fiber)
{
	const char *name = label_name(fiber->label);
	struct line line = { .size = 0 };

	if (!fiber->code)
		return;
	line_add(&line, "sley: crash in fiber \"");
	line_add(&line, name ? name : "unnamed");
	line_add(&line, "\"\n");
	os_print_error(line.text, line.size);
	overflow_print_code(fiber);
}

static bool is_overflow(const struct fiber *fiber, uintptr_t address)
{
	uintptr_t low = (uintptr_t)fiber->stack.low;

	return low && address < low && low - address <= stack_guard_size();
}

static bool overflow_report(uintptr_t address, bool last)
{
	const struct fiber *fiber = fiber_current();

	if (!fiber)
		return false;
	if (!is_overflow(fiber, address)) {
		if (last)
			crash_print(fiber);
		return false;
	}
	overflow_print(fiber, address);
	overflow_print_code(fiber);
	return true;
}

static void lock_install(void)
{
	fault_lock(pthread_mutex_lock(&install_lock));
}

static void unlock_install(void)
{
	pthread_mutex_unlock(&install_lock);
}

FORK_PART(FORK_OVERFLOW, .lock = lock_install, .unlock = unlock_install);

void fiber_overflow_install(void)
{
	lock_install();
	if (nr_installed++ == 0)
		os_fault_catch(overflow_report);
	unlock_install();
}

void fiber_overflow_uninstall(void)
{
	lock_install();
	sley_assert(nr_installed > 0);
	if (--nr_installed == 0)
		os_fault_release();
	unlock_install();
}
