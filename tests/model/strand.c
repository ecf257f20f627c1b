/* SPDX-License-Identifier: MIT */
/*
 * strand.c - one stack per model thread, and switches between them.
 *
 * A strand is entered once with swapcontext() and from then on with _longjmp,
 * which makes no system call.  Its first frame sets `base`; an execution that
 * is abandoned leaves its strands where they are, and the next one jumps back
 * to their bases.  Main waits in strand_guard().
 */
#include "engine.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_SIZE ((size_t)256 * 1024)

static jmp_buf main_jmp;
static jmp_buf base[THREADS];
static jmp_buf saved[THREADS];
static char *stacks; /* of all strands, one after the other */
static ucontext_t created_by;
static int creating;
static int nr_created;

static void strand_body(int id)
{
	struct op exit_op = { .kind = OP_EXIT, .site = "\0exit\0" };

	engine.current = id;
	engine.model->threads[id](id);
	engine.threads[id].finished = true;
	machine_post(&exit_op);
	abort();
}

static void strand_entry(void)
{
	ucontext_t unused;
	int id = creating;

	if (_setjmp(base[id]) == 0)
		swapcontext(&unused, &created_by);
	strand_body(engine.current);
}

void strands_init(int nr)
{
	if (!stacks) {
		stacks = mmap(NULL, THREADS * STACK_SIZE,
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (stacks == MAP_FAILED)
			abort();
	}
	for (; nr_created < nr; nr_created++) {
		ucontext_t context;

		getcontext(&context);
		context.uc_stack.ss_sp =
			stacks + (size_t)nr_created * STACK_SIZE;
		context.uc_stack.ss_size = STACK_SIZE;
		context.uc_link = NULL;
		creating = nr_created;
		makecontext(&context, strand_entry, 0);
		swapcontext(&created_by, &context);
	}
}

void strand_run(int id)
{
	engine.current = id;
	_longjmp(base[id], 1);
}

void strand_switch(int from, int to)
{
	if (_setjmp(saved[from]) == 0)
		_longjmp(saved[to], 1);
}

void strand_start(int from, int next)
{
	if (_setjmp(saved[from]) == 0)
		strand_run(next);
}

void strand_leave(void)
{
	_longjmp(main_jmp, 1);
}

/* Whose stack is it on?  -1: on none. */
int strand_of(const char *p)
{
	if (p < stacks || p >= stacks + THREADS * STACK_SIZE)
		return -1;
	return (int)((size_t)(p - stacks) / STACK_SIZE);
}

void strand_guard(void (*body)(void))
{
	if (_setjmp(main_jmp) == 0)
		body();
}
