/* SPDX-License-Identifier: MIT */
/*
 * arch_bti.c - on guarded pages, where every indirect branch must land on an
 * instruction that says so, contexts start and go on.  AArch64 only; compiled
 * with -mbranch-protection=standard.
 *
 * The loader would guard the pages of a program all of whose parts are marked;
 * Debian's start files are not.  So the test guards its own code while it runs.
 */
#include "arch/ctx.h"
#include "harness/test.h"

#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define HAS_BTI (1ul << 17) /* in AT_HWCAP2 */
#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif

extern const char __executable_start, etext; /* from the linker */

static struct ctx here, there;
static int nr_visits;

static void visit(void *arg, void *pass)
{
	for (;;) {
		nr_visits += arg == &nr_visits;
		pass = ctx_switch(&there, &here, pass);
	}
}

static void protect_code(int protection)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t low = (uintptr_t)&__executable_start & ~(page - 1);
	uintptr_t high = ((uintptr_t)&etext + page - 1) & ~(page - 1);

	CHECK_EQ(mprotect((void *)low, high - low, protection), 0);
}

TEST(contexts_switch_on_guarded_pages)
{
	static char stack[64 << 10];

	if (!(getauxval(AT_HWCAP2) & HAS_BTI))
		test_skip("the processor knows no branch targets");
	ctx_init(&there, stack, sizeof(stack), visit, &nr_visits);
	protect_code(PROT_READ | PROT_EXEC | PROT_BTI);
	for (int i = 0; i < 10; i++)
		CHECK(ctx_switch(&here, &there, stack) == stack);
	protect_code(PROT_READ | PROT_EXEC);
	CHECK_EQ(nr_visits, 10);
}
