/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - write a model: a few threads over shared state, and conditions that
 * must hold in every interleaving of the threads.
 *
 *	static struct spinlock lock;
 *	static int count;
 *
 *	static void setup(void) { lock = (struct spinlock){ 0 }; count = 0; }
 *	static void worker(int id) { spin_lock(&lock); ... }
 *	static void finish(void) { MODEL_CHECK(count == 2); }
 *
 *	MODEL(lock_excludes, .setup = setup, .threads = { worker, worker },
 *	      .finish = finish);
 *
 * setup runs before every execution and must set all shared state; finish runs
 * after every complete execution.  Threads must be deterministic: they depend only
 * on shared state, on model_choose() and on virtual time.
 *
 * The explorer explores every order of the operations of base/atomic.h, futex
 * calls, membarrier and model_access(), up to swapping neighbours that cannot
 * see each other; in TSO also every moment at which a buffered store reaches
 * memory; in RA also every value that C11 lets a load find.  Plain shared data
 * is plain memory.  The order of plain accesses is explored only through the atomics
 * around the accesses, so plain data must be free of races: RA finds races, in the
 * sources and in the model.  Bookkeeping of the model must commute (count, do not
 * log); declare such data with model_ledger(), or mark accesses: model_access().
 *
 * Spin loops must call spin_hint().  Memory from model_alloc() must be freed
 * by the end; freed memory is never handed out again within one execution, so
 * touching it through an atomic is a failure (and re-use by the allocator, as
 * in ABA, has to be modelled by hand).  An atomic access to a frame that has
 * been left is a failure where the explorer meets the access; but leaving a frame is
 * no operation, so not every order of the two is tried.
 */
#ifndef SLEY_TESTS_MODEL_EXPLORER_H
#define SLEY_TESTS_MODEL_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREADS_MAX 8 /* a power of two */

enum model_mode {
	MODEL_SC = 1,  /* one memory, one operation at a time */
	MODEL_TSO = 2, /* stores wait in a buffer per thread, as on x86 */
	MODEL_RA = 4,  /* C11: a load may find an older value */
	MODEL_ALL = 7,
};

enum model_failure {
	MODEL_NONE,
	MODEL_ASSERTION,
	MODEL_DEADLOCK,
	MODEL_LOST_WAKEUP, /* deadlock with a thread in futex wait */
	MODEL_LIVELOCK,    /* more than .steps steps */
	MODEL_LEAK,
	MODEL_USE_AFTER_FREE,
	MODEL_RACE,     /* on plain data; RA only */
	MODEL_CRASH,    /* SIGSEGV and friends */
	MODEL_UNSTABLE, /* the model itself is wrong: not deterministic, ... */
};

struct model {
	const char *name;
	void (*setup)(void);
	void (*threads[MODEL_THREADS_MAX])(int id);
	void (*finish)(void);
	/* Zero means the default for all fields below. */
	int modes;                 /* MODEL_ALL */
	int bound;                 /* at most that many preemptions; 0: any */
	int delays;                /* at most that many delays; 0: any */
	int random;                /* that many random executions instead */
	int steps;                 /* limit of one execution; 1000 */
	int buffer;                /* stores a thread may have in flight; 8 */
	enum model_failure expect; /* self tests: this must be found */
	bool no_membarrier;        /* os_membarrier_setup() says false */
	bool slow;                 /* only with --slow: "make prove" */
	/*
	 * The same for these modes only.  All that MODEL_SC explores MODEL_TSO
	 * explores, too.
	 */
	int slow_modes;
	struct model *next;
};

#define MODEL(id, ...)                                                         \
	static struct model model_##id = { .name = #id, __VA_ARGS__ };         \
	__attribute__((constructor)) static void model_register_##id(void)     \
	{                                                                      \
		model_register(&model_##id);                                   \
	}                                                                      \
	struct model

#define MODEL_STRING_(x) #x
#define MODEL_STRING(x) MODEL_STRING_(x)

#define MODEL_CHECK(x)                                                         \
	((x) ? (void)0                                                         \
	     : model_fail(MODEL_ASSERTION, "%s:%d: %s", __FILE__, __LINE__,    \
			  #x))

void model_register(struct model *model);

__attribute__((noreturn, format(printf, 2, 3))) void
model_fail(enum model_failure kind, const char *format, ...);

/* The calling model thread; -1 in setup and finish. */
int model_thread(void);

/* A number from 0 to n-1; each is explored. */
int model_choose(int n);

/* A scheduling point before a plain access to *@p, which may be a write. */
#define model_access(p)                                                        \
	model_access_at((p),                                                   \
			__FILE__ ":" MODEL_STRING(__LINE__) "\0access\0" #p)
void model_access_at(const volatile void *p, const char *site);

/*
 * The memory at @p is bookkeeping of the model: the threads may touch the memory
 * without any order.  Call this in setup.
 */
void model_ledger(const volatile void *p, size_t size);

/* Moves virtual time forward. */
void model_advance(uint64_t ns);

/*
 * The word at @p is a lock, held while its bit 0 is set; call this in setup.  An
 * exchange or "or" that would find the lock held waits instead of failing, so that
 * attempts in vain are not explored.  Not for locks that are only tried, nor for
 * the model of the lock itself.
 */
void model_lock_word(const volatile void *p);

/* Zeroed memory, 64-byte aligned, the same addresses in every execution. */
void *model_alloc(size_t size);
void model_free(void *p);

/*
 * For a model with its own os_map() and memory that is not of model_alloc(), which
 * does the same: the calling thread has just got @size bytes of zeroes at @p.  In RA
 * the zeroes count as written by the calling thread, so that a thread that gets a
 * pointer there must know of the mapping, by a release and an acquire.  Returns @p.
 */
void *model_mapped(void *p, size_t size);

/* The name of the object at @p, and of pointers to the object, in listings. */
__attribute__((format(printf, 2, 3))) void model_name(const volatile void *p,
						      const char *format, ...);

#endif
