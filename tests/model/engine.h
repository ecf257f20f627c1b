/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the inside of the explorer, shared by its files.
 *
 *   strand.c   stacks and switches: one strand per model thread
 *   machine.c  the effect of operations: memory, store buffers, barriers, time
 *   history.c  memory in the mode RA: histories and views
 *   shadow.c, instrument.c  races on plain data, in the mode RA
 *   futex.c    sleeping and waking
 *   calls.c, model_os.c  the calls of the threads, as operations
 *   order.c    which steps depend on each other; clocks, races, sleep sets
 *   search.c   which step is taken next; backtracking
 *   delay.c    ... by a scheduler that is delayed a few times
 *   priority.c ... at random, by priorities
 *   linear.c   histories of operations
 *   mutate.c   one operation made wrong, to see which model notices
 *   heap.c     model_alloc
 *   report.c   the listing and the replay string
 *   proof.c    one line per search for the page of numbers
 *   main.c     the command line
 *
 * An execution is a row of steps.  Each step is taken by a *process*: thread i
 * is process i, and the store buffer of thread i is process i + BUFFER, whose
 * steps write the oldest buffered store to memory (in RA: interrupt the thread
 * for a membarrier of another thread).  A thread's next operation is always known
 * before the execution: a thread runs up to the operation, posts the operation, and
 * carries the operation out when the search chooses the thread.
 */
#ifndef SLEY_TESTS_MODEL_ENGINE_H
#define SLEY_TESTS_MODEL_ENGINE_H

#include "explorer.h"

#include <setjmp.h>

#define THREADS MODEL_THREADS_MAX
#define BUFFER THREADS
#define PROCESSES (2 * THREADS)
#define STEPS_MAX 4096
#define STORES_MAX 16
#define LOCKS_MAX 16

enum op_kind {
	OP_LOAD,
	OP_STORE, /* in TSO: into the buffer */
	OP_FLUSH, /* from the buffer to memory */
	OP_RMW,
	OP_CAS,
	OP_SPIN,
	OP_FUTEX_WAIT,    /* compare, and queue */
	OP_FUTEX_UNBLOCK, /* leave the queue: woken, or timed out */
	OP_FUTEX_WAKE,
	OP_BARRIER_START,
	OP_BARRIER_END, /* every buffer was empty at some time since start */
	OP_INTERRUPT,   /* RA: a thread is interrupted for a barrier */
	OP_NOW,
	OP_ADVANCE,
	OP_YIELD,
	OP_CHOOSE,
	OP_ACCESS,
	OP_FREE,
	OP_EXIT, /* never enabled */
};

struct op {
	char *addr;
	const char *site; /* "file:line\0name\0expression" */
	uint64_t value;   /* operand; futex: expected or number to wake */
	uint64_t expected;
	uint64_t deadline;
	uint32_t size;
	uint8_t kind;
	uint8_t order;   /* enum model_order; used by RA only */
	uint8_t failure; /* order of a CAS that fails */
	uint8_t how;     /* enum model_rmw */
	bool lock;       /* the location is a lock */
};

/* The things that a step touched, or may touch. */
enum {
	READS = 1,
	WRITES = 2,
	QUEUE_READS = 4, /* a futex queue: enters or leaves */
	QUEUE_WRITES = 8,
	TIME_READS = 16,
	TIME_WRITES = 32,
	BARRIER_WATCHED = 64, /* a store while a membarrier is under way */
	CHANGES = 128,        /* wrote a new value */
	TOTAL_READS = 256,    /* sequentially consistent, in RA */
	TOTAL_WRITES = 512,
	STALE = 1024, /* RA: met a message that is not the newest */
};

enum lock_effect {
	LOCK_NONE,
	LOCK_ACQUIRED, /* by a step that would have waited */
	LOCK_SEIZED,   /* by a step that might have failed */
	LOCK_RELEASED,
};

struct effect {
	char *addr;
	uint32_t size;
	uint16_t flags;
	uint8_t process;
	uint8_t kind;
	uint8_t lock; /* enum lock_effect */
};

struct clock {
	uint16_t at[PROCESSES];
};

struct step {
	/* The state before the step. */
	uint32_t enabled;
	uint32_t sleep;     /* explored from a state before, no use here */
	uint32_t backtrack; /* to be explored from here */
	uint32_t done;      /* explored from here */
	int16_t budget;     /* preemptions or delays left */
	int16_t spent;      /* of them, by the step taken */
	int8_t last;        /* the thread that ran before, or -1 */
	uint64_t hash;      /* of the steps before and their order */
	/* RA, for a thread about to read: the messages that the thread could have
	   read before step since - 1 were explored there; 0: none. */
	uint16_t since[THREADS];
	/* The step taken. */
	struct effect effect;
	uint16_t index; /* among the steps of its process, from 1 */
	uint16_t choice;
	uint16_t choices;
	int cause;     /* a step that enabled this step, or -1 */
	int read_from; /* RA: the step whose message was met, or -1 */
	struct clock clock;
};

struct store {
	char *addr;
	const char *site;
	uint64_t value;
	uint32_t size;
	int issued; /* the step */
	bool lock;
};

struct thread {
	struct op op;
	uint64_t result;
	char *sp; /* when the operation was posted */
	bool finished;
	bool queued; /* in a futex queue */
	bool woken;
	bool may_look; /* spin: the location changed since the last look */
	int cause;     /* the step that enabled a blocked operation, or -1 */
	/* Store buffer: [first, last), counted for ever. */
	unsigned first, last;
	struct store buffer[STORES_MAX];
	int flushed[STORES_MAX]; /* the step that flushed store n */
	/* Membarrier under way: the threads whose buffer was not empty yet, and
	   the steps that emptied the other buffers. */
	uint32_t unseen;
	int seen[THREADS];
};

enum search_kind {
	SEARCH_REDUCED, /* partial-order reduction; complete */
	SEARCH_BOUNDED, /* all schedules within .bound preemptions */
	SEARCH_NAIVE,   /* all schedules, to check the others */
	SEARCH_DELAYED, /* all schedules within .delays delays */
	SEARCH_RANDOM,  /* .random of them, drawn by priorities */
};

enum outcome { RUNNING, COMPLETE, REDUNDANT, FAILED };

struct engine {
	const struct model *model;
	enum model_mode mode;
	enum search_kind search;
	int nr_threads;
	int buffer;
	int max_steps;
	int bound; /* preemptions; delays; random: the depth of bugs */
	uint64_t seed;

	/* The execution. */
	enum outcome outcome;
	int current; /* thread, or -1 */
	int nr_started;
	int depth;  /* steps taken */
	int replay; /* steps given; the last step is new */
	int barriers;
	uint64_t now;
	int nr_locks;
	const char *locks[LOCKS_MAX];
	uint16_t nr_by[PROCESSES];
	int last_by[PROCESSES]; /* step, or -1 */
	int last_thread;
	bool executing; /* a step is being carried out */
	bool clocked;   /* the model looks at the clocks of steps */
	bool tracing;
	bool redo;     /* follow a recorded schedule: no search */
	bool mutating; /* mutate.c sees each operation first */
	bool no_locks; /* model_lock_word() means nothing */
	struct thread threads[THREADS];
	struct step steps[STEPS_MAX];

	enum model_failure failure;
	char message[512];

	/* For self tests: called at the end of each execution that was not
	   redundant, also after failures. */
	void (*ended)(void);
};

extern struct engine engine;

/* strand.c */
void strands_init(int nr);
__attribute__((noreturn)) void strand_run(int id); /* from its start */
void strand_switch(int from, int to);
void strand_start(int from, int next);             /* the first time */
__attribute__((noreturn)) void strand_leave(void); /* ends the execution */
int strand_of(const char *p);                      /* the owner of the stack */
void strand_guard(void (*body)(void)); /* runs it so that fail can leave */

/* machine.c */
void machine_reset(void);
bool machine_enabled(int process);
struct effect machine_effect(int process); /* of the next step, at most */
bool machine_background(int thread);       /* buffer, or interrupts */
void machine_execute(int thread);
void machine_wrote(const struct effect *effect);
uint64_t machine_post(const struct op *op); /* by the running thread */
uint64_t machine_take(const struct op *op); /* ... as it is: not mutated */
bool machine_is_lock(const char *addr);

int machine_pick(int choices);         /* a number; all are explored */
int machine_pick_of(uint64_t allowed); /* the number of an allowed bit */
bool machine_takes_lock(const struct op *op);
uint64_t machine_rmw_value(const struct op *op, uint64_t old);
void machine_write(struct effect *effect, uint64_t value, bool lock);
void machine_check_alive(const char *addr);

/* history.c */
void history_reset(void);
uint64_t history_access(int thread, const struct op *op, struct effect *effect);
bool history_has_news(int thread, const struct op *op, int since);
bool history_may_look(int thread, const struct op *op);
int history_news_from(int thread, const struct op *op);
void history_look(int thread, const struct op *op);
void history_barrier_start(int thread);
void history_step(int thread);
void history_interrupt(int thread, int caller);
bool history_is_late(int thread, int caller);
void history_barrier_end(int thread);
void history_futex_wake(int thread, const char *addr);
bool history_happened_before(int thread, uint16_t time, int monitor);
uint64_t history_hash(void); /* of the order of all messages */

/* shadow.c */
void shadow_reset(void);
void shadow_forget_ledgers(void);
uint8_t *shadow_location(const char *addr, uint32_t size); /* + 1; 0: none */
void shadow_atomic(const struct op *op);
void shadow_plain(const void *p, size_t size, bool write, const void *site);
void shadow_mapped(const void *p, size_t size, const void *site);

/* futex.c */
uint64_t futex_wake(const char *addr, uint64_t max); /* returns how many */
uint64_t futex_unblock(struct thread *t, struct effect *effect);

/* order.c */
bool order_depends(const struct effect *a, const struct effect *b);
void order_record(struct step *s); /* a new step, the last step */
uint32_t order_sleep(const struct step *s, struct step *next);
uint64_t order_hash(const struct step *s);
bool order_needs(int s, int e);  /* must step e come before s? */
bool order_before(int e, int s); /* steps, whose clocks were recorded */

/* search.c */
struct search_stats {
	uint64_t executions; /* that are complete */
	uint64_t redundant;  /* abandoned: equivalent to others */
	uint64_t steps;
	int longest;
	bool complete;
	double seconds;
};
void search_schedule(int id); /* @id posted; returns after the execution */
void search_run_once(void);
struct search_stats search_explore(const struct model *model,
				   enum model_mode mode, enum search_kind kind,
				   uint64_t limit);
void search_prepare(const struct model *model, enum model_mode mode);

/* delay.c: the state before the next step */
int delay_first(uint32_t enabled);
uint32_t delay_within(uint32_t enabled, int delays);
int delay_cost(uint32_t enabled, int process);
uint64_t delay_key(void); /* also part of the identity of a state */

/* priority.c */
#define PRIORITY_DEPTH_MAX 16
struct priority_odds {
	int processes;
	int length;    /* steps of the longest execution */
	double one_in; /* executions that meet a bug of the depth */
	bool chose;    /* ... if the machine's choices are right */
};
void priority_draw(uint64_t execution); /* the next execution, from 0 */
int priority_pick(uint32_t enabled);
int priority_choice(int choices);
struct priority_odds priority_odds(void);

/* heap.c */
void heap_reset(void);
int heap_live(void);
void heap_check(const char *p);                   /* fails if freed */
void heap_check_flush(const char *p, int thread); /* ... by another thread */
void heap_free(char *p, int thread);

/* mutate.c */
struct mutate_result {
	const char *verdict; /* killed, lives, limit, unreached, ... */
	uint64_t reached;    /* times that the operation was met */
	uint64_t wrong;      /* ... and was wrong */
};
bool mutate_parse(const char *text); /* SITE:KIND; false: malformed */
void mutate_list(void);              /* collect sites, do not mutate */
void mutate_print_sites(void);
void mutate_reset(void); /* a new execution */
uint64_t mutate_post(const struct op *op);
struct search_stats mutate_explore(const struct model *model,
				   enum model_mode mode, enum search_kind kind,
				   uint64_t limit);
struct mutate_result mutate_result(const struct search_stats *stats);

/* report.c: the execution that just ended */
void report_step(const struct step *s, const struct op *op, uint64_t result);
void report_names_reset(void);
void report_failure(void);
bool report_reproduces(void); /* silently, by the replay string */
int report_replay(const struct model *models, const char *string);
const char *report_kind(enum model_failure kind);
const char *report_mode(enum model_mode mode);
void report_where(uint32_t site, char *text, size_t size);

/* proof.c */
void proof_append(const char *argv0, const struct search_stats *stats);

#endif
