/* SPDX-License-Identifier: MIT */
/*
 * world.c - processes, time and chance; see world.h.
 */
#include "world.h"

#include "fiber/fiber.h"
#include "step.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_SIZE (256u << 10)
#define FAIL_ONE_IN 12u /* allocations */

struct world world;
int64_t sim_steps_left = INT64_MAX;

static struct fiber main_fiber;
static struct fiber_thread main_thread;

struct flow {
	struct fiber fiber;
	struct stack stack;
	struct flow *next; /* free */
};

static struct flow *free_flows;

/* In front of each allocation of a process. */
struct block {
	struct block *prev, *next;
};

#define BLOCK_ROOM 64u

_Static_assert(sizeof(struct block) <= BLOCK_ROOM, "memory stays aligned");

/* ---- chance, and what is said ---------------------------------------------------------- */

uint32_t draw(uint32_t n)
{
	return rand_below(&world.rand, n);
}

bool one_in(uint32_t n)
{
	return draw(n) == 0;
}

void trace(const char *format, ...)
{
	va_list args;

	if (!world.trace)
		return;
	printf("%9.3f us  %-10s ", (double)world.now_ns / 1e3,
	       world.current ? world.current->name : "-");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void fail(const char *format, ...)
{
	va_list args;

	(void)fflush(stdout);
	fprintf(stderr, "sim: seed %llu, after %.3f us, %s: ",
		(unsigned long long)world.seed, (double)world.now_ns / 1e3,
		world.current ? world.current->name : "at the end");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	for (uint32_t i = 0; i < world.nr_processes; i++) {
		const struct process *process = world.processes[i];

		if (process_lives(process))
			fprintf(stderr, "     %s lives, and %s\n",
				process->name,
				process->state == PROCESS_SLEEPS ? "sleeps"
								 : "runs");
	}
	abort();
}

/* ---- memory of a process --------------------------------------------------------------- */

static void *take_block(void *self, size_t size, size_t align)
{
	struct process *process = self;
	struct block *block;
	void *memory;

	(void)align; /* a cache line, as ever in these sources */
	if (process->fails && !world.quiet && one_in(FAIL_ONE_IN)) {
		trace("no memory");
		return NULL;
	}
	if (posix_memalign(&memory, BLOCK_ROOM, BLOCK_ROOM + size))
		abort();
	block = memory;
	*block = (struct block){ .next = process->blocks };
	if (block->next)
		block->next->prev = block;
	process->blocks = block;
	return (unsigned char *)memory + BLOCK_ROOM;
}

static void drop_block(struct process *process, struct block *block)
{
	if (block->next)
		block->next->prev = block->prev;
	if (block->prev)
		block->prev->next = block->next;
	else
		process->blocks = block->next;
	free(block);
}

static void give_block(void *self, void *memory, size_t size)
{
	(void)size;
	drop_block(self,
		   (struct block *)((unsigned char *)memory - BLOCK_ROOM));
}

/* ---- flows ----------------------------------------------------------------------------- */

static struct flow *take_flow(void)
{
	struct flow *flow = free_flows;

	if (flow) {
		free_flows = flow->next;
		return flow;
	}
	flow = calloc(1, sizeof(*flow));
	if (!flow ||
	    posix_memalign((void **)&flow->stack.low, 4096, STACK_SIZE))
		abort();
	flow->stack.size = STACK_SIZE;
	return flow;
}

static void give_flow(struct process *process)
{
	if (!process->flow)
		return;
	fiber_fini(&process->flow->fiber);
	process->flow->next = free_flows;
	free_flows = process->flow;
	process->flow = NULL;
}

static void to_main(void)
{
	struct process *self = world.current;

	sim_steps_left = INT64_MAX;
	(void)fiber_switch(&self->flow->fiber, &main_fiber, &main_thread);
}

void sim_leave(void)
{
	if (!world.current) {
		sim_steps_left = INT64_MAX;
		return;
	}
	to_main();
}

void *sim_memcpy(void *to, const void *from, size_t size)
{
	size_t half = size / 2;

	memcpy(to, from, half);
	sim_step();
	memcpy((unsigned char *)to + half, (const unsigned char *)from + half,
	       size - half);
	return to;
}

/* ---- processes ------------------------------------------------------------------------- */

static void entry(void *arg, struct fiber_thread *thread)
{
	struct process *process = arg;

	(void)thread;
	process->main(process->self);
	process_exit();
}

void process_start(struct process *process, const char *name,
		   void (*main)(void *self), void *self)
{
	struct sley_allocator hook = { .alloc = take_block,
				       .free = give_block,
				       .self = process };

	(void)snprintf(process->name, sizeof(process->name), "%s", name);
	process->main = main;
	process->self = self;
	process->signal_ns = UINT64_MAX;
	process->fails = world.faults[FAULT_NO_MEMORY];
	mem_init(&process->mem, &hook);
	process->flow = take_flow();
	fiber_init(&process->flow->fiber, &process->flow->stack, entry,
		   process);
	process->state = PROCESS_READY;
	HOLDS(world.nr_processes <
		      sizeof(world.processes) / sizeof(world.processes[0]),
	      "too many processes");
	world.processes[world.nr_processes++] = process;
}

bool process_lives(const struct process *process)
{
	return process->state == PROCESS_READY ||
	       process->state == PROCESS_SLEEPS;
}

void process_exit(void)
{
	struct process *self = world.current;

	trace("ends");
	HOLDS(!self->blocks && !mem_allocated(&self->mem),
	      "%s ends and has memory", self->name);
	for (uint32_t i = 0; i < MAPS_MAX; i++)
		HOLDS(!self->maps[i], "%s ends and has mapped memory",
		      self->name);
	self->state = PROCESS_ENDED;
	to_main();
	abort();
}

void process_kill(struct process *process)
{
	trace("%s is killed", process->name);
	process->state = PROCESS_ENDED;
	process->killed(process->self);
	while (process->blocks)
		drop_block(process, process->blocks);
	for (uint32_t i = 0; i < MAPS_MAX; i++) {
		if (process->maps[i])
			shared_put(process->maps[i]);
		process->maps[i] = NULL;
	}
	give_flow(process);
}

void process_sleep(uint64_t until_ns)
{
	struct process *self = world.current;

	self->state = PROCESS_SLEEPS;
	self->wake_ns = until_ns;
	to_main();
}

void process_signal(struct process *process)
{
	uint64_t delay = draw(500);

	if (!process)
		return; /* its peer has closed */
	if (!world.quiet && world.faults[FAULT_DELAY] && one_in(4))
		delay = draw(MS);
	if (world.now_ns + delay < process->signal_ns)
		process->signal_ns = world.now_ns + delay;
}

/*
 * A simulated process never sleeps on a word: it watches, as a runtime does, or is told by
 * world.wake.
 */
int sim_futex_wait(const uint32_t *word, uint32_t expected,
		   uint64_t deadline_ns)
{
	(void)word;
	(void)expected;
	(void)deadline_ns;
	abort();
}

void sim_futex_wake(const uint32_t *word, int nr)
{
	(void)nr;
	if (world.wake)
		world.wake(word);
}

/* ---- docs/PROOF.md --------------------------------------------------------------------- */

/* One write, so that programs do not mix. */
void prove(const char *format, ...)
{
	const char *path = getenv("SLEY_PROOF");
	int fd = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644)
			       : -1;
	va_list args;

	if (fd < 0)
		return;
	va_start(args, format);
	(void)vdprintf(fd, format, args);
	va_end(args);
	close(fd);
}

/* ---- turns ----------------------------------------------------------------------------- */

void world_begin(uint64_t seed, bool trace)
{
	static bool ready;

	if (!ready) {
		fiber_thread_init(&main_thread);
		fiber_init_thread(&main_fiber, &main_thread);
		ready = true;
	}
	world = (struct world){ .seed = seed, .trace = trace };
	rand_seed(&world.rand, seed);
}

void world_end(void)
{
	for (uint32_t i = 0; i < world.nr_processes; i++)
		give_flow(world.processes[i]);
}

/* When the process can go on. */
static uint64_t ready_at(const struct process *process)
{
	uint64_t at = 0;

	if (process->state == PROCESS_SLEEPS)
		at = process->wake_ns < process->signal_ns ? process->wake_ns
							   : process->signal_ns;
	if (process->stopped_until > at)
		at = process->stopped_until;
	return process_lives(process) ? at : UINT64_MAX;
}

static struct process *pick(void)
{
	struct process *ready[32];
	uint32_t nr = 0;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < world.nr_processes; i++) {
		uint64_t at = ready_at(world.processes[i]);

		if (at <= world.now_ns)
			ready[nr++] = world.processes[i];
		else if (at < first)
			first = at;
	}
	if (nr)
		return ready[draw(nr)];
	if (first == UINT64_MAX)
		return NULL;
	world.now_ns = first;
	return pick();
}

bool world_turn(void)
{
	struct process *process = pick();

	if (!process)
		return false;
	if (process->state == PROCESS_SLEEPS &&
	    process->signal_ns <= world.now_ns)
		process->signal_ns = UINT64_MAX;
	process->state = PROCESS_READY;
	world.current = process;
	world.last = process;
	world.nr_turns++;
	sim_steps_left = 1 + draw(one_in(2) ? 12 : 200);
	(void)fiber_switch(&main_fiber, &process->flow->fiber, &main_thread);
	world.current = NULL;
	world.now_ns += draw(2000);
	if (process->state == PROCESS_ENDED)
		give_flow(process);
	return true;
}
