/* SPDX-License-Identifier: MIT */
/*
 * model_atomic.h - base/atomic.h for the explorer (-DSLEY_MODEL).
 *
 * Every operation becomes a call that is a scheduling point.  The call gets
 * the place as one string, "file:line\0name\0expression", so that a listing
 * can show the source without any work at run time.
 *
 * Objects are integers and pointers of 1, 2, 4 or 8 bytes.  A location is
 * accessed in one size only, and either through these names or as plain data,
 * not both while threads run (plain data does not go through store buffers).
 */
#ifndef SLEY_TESTS_MODEL_ATOMIC_H
#define SLEY_TESTS_MODEL_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

enum model_order {
	MODEL_ORDER_RELAXED = __ATOMIC_RELAXED,
	MODEL_ORDER_ACQUIRE = __ATOMIC_ACQUIRE,
	MODEL_ORDER_RELEASE = __ATOMIC_RELEASE,
	MODEL_ORDER_ACQ_REL = __ATOMIC_ACQ_REL,
	MODEL_ORDER_SEQ_CST = __ATOMIC_SEQ_CST,
};

/* The kind of a read-modify-write. */
enum model_rmw { MODEL_XCHG, MODEL_ADD, MODEL_OR, MODEL_AND };

/* The object and its name in the source. */
struct model_at {
	const volatile void *addr;
	const char *site;
	uint8_t size;
	uint8_t order;
	uint8_t failure; /* order of a CAS that fails */
};

uint64_t model_load(struct model_at at);
void model_store(struct model_at at, uint64_t value);
uint64_t model_rmw(struct model_at at, enum model_rmw how, uint64_t value);
bool model_cas(struct model_at at, void *expected, uint64_t desired);
void model_spin(struct model_at at);

#define MODEL_TEXT_(x) #x
#define MODEL_TEXT(x) MODEL_TEXT_(x)
#define MODEL_AT(p, name, success, fails)                                      \
	((struct model_at){ .addr = (p),                                       \
			    .site = __FILE__                                   \
			    ":" MODEL_TEXT(__LINE__) "\0" name "\0" #p,        \
			    .size = sizeof(*(p)),                              \
			    .order = (success),                                \
			    .failure = (fails) })
#define MODEL_HERE(p, name, o)                                                 \
	MODEL_AT(p, name, MODEL_ORDER_##o, MODEL_ORDER_RELAXED)

#define MODEL_LOAD(p, name, o)                                                 \
	((__typeof__(*(p)))model_load(MODEL_HERE(p, name, o)))
#define MODEL_STORE(p, v, name, o)                                             \
	model_store(MODEL_HERE(p, name, o), (uint64_t)(v))
#define MODEL_RMW(p, how, v, name, o)                                          \
	({                                                                     \
		(__typeof__(*(p)))model_rmw(MODEL_HERE(p, name, o),            \
					    MODEL_##how, (uint64_t)(v));       \
	})
#define MODEL_CAS(p, e, d, name, o)                                            \
	model_cas(MODEL_HERE(p, name, o), (e), (uint64_t)(d))

#define load_relaxed(p) MODEL_LOAD(p, "load_relaxed", RELAXED)
#define load_acquire(p) MODEL_LOAD(p, "load_acquire", ACQUIRE)

#define store_relaxed(p, v) MODEL_STORE(p, v, "store_relaxed", RELAXED)
#define store_release(p, v) MODEL_STORE(p, v, "store_release", RELEASE)

#define xchg_relaxed(p, v) MODEL_RMW(p, XCHG, v, "xchg_relaxed", RELAXED)
#define xchg_acquire(p, v) MODEL_RMW(p, XCHG, v, "xchg_acquire", ACQUIRE)
#define xchg_release(p, v) MODEL_RMW(p, XCHG, v, "xchg_release", RELEASE)
#define xchg_acq_rel(p, v) MODEL_RMW(p, XCHG, v, "xchg_acq_rel", ACQ_REL)

#define cas_relaxed(p, e, d) MODEL_CAS(p, e, d, "cas_relaxed", RELAXED)
#define cas_acquire(p, e, d) MODEL_CAS(p, e, d, "cas_acquire", ACQUIRE)
#define cas_release(p, e, d) MODEL_CAS(p, e, d, "cas_release", RELEASE)
#define cas_acq_rel(p, e, d) MODEL_CAS(p, e, d, "cas_acq_rel", ACQ_REL)
#define cas_acq_rel_acquire(p, e, d)                                           \
	model_cas(MODEL_AT(p, "cas_acq_rel_acquire", MODEL_ORDER_ACQ_REL,      \
			   MODEL_ORDER_ACQUIRE),                               \
		  (e), (uint64_t)(d))

#define add_relaxed(p, v) MODEL_RMW(p, ADD, v, "add_relaxed", RELAXED)
#define add_acquire(p, v) MODEL_RMW(p, ADD, v, "add_acquire", ACQUIRE)
#define add_release(p, v) MODEL_RMW(p, ADD, v, "add_release", RELEASE)
#define add_acq_rel(p, v) MODEL_RMW(p, ADD, v, "add_acq_rel", ACQ_REL)
#define sub_relaxed(p, v)                                                      \
	MODEL_RMW(p, ADD, -(uint64_t)(v), "sub_relaxed", RELAXED)
#define sub_release(p, v)                                                      \
	MODEL_RMW(p, ADD, -(uint64_t)(v), "sub_release", RELEASE)
#define sub_acq_rel(p, v)                                                      \
	MODEL_RMW(p, ADD, -(uint64_t)(v), "sub_acq_rel", ACQ_REL)
#define or_relaxed(p, v) MODEL_RMW(p, OR, v, "or_relaxed", RELAXED)
#define or_acquire(p, v) MODEL_RMW(p, OR, v, "or_acquire", ACQUIRE)
#define or_release(p, v) MODEL_RMW(p, OR, v, "or_release", RELEASE)
#define or_acq_rel(p, v) MODEL_RMW(p, OR, v, "or_acq_rel", ACQ_REL)
#define and_relaxed(p, v) MODEL_RMW(p, AND, v, "and_relaxed", RELAXED)
#define and_release(p, v) MODEL_RMW(p, AND, v, "and_release", RELEASE)
#define and_acq_rel(p, v) MODEL_RMW(p, AND, v, "and_acq_rel", ACQ_REL)

#define load_seq_cst(p) MODEL_LOAD(p, "load_seq_cst", SEQ_CST)
#define xchg_seq_cst(p, v) MODEL_RMW(p, XCHG, v, "xchg_seq_cst", SEQ_CST)
#define cas_seq_cst(p, e, d) MODEL_CAS(p, e, d, "cas_seq_cst", SEQ_CST)
/* For self tests of the explorer: no source of ours has these. */
#define store_seq_cst(p, v) MODEL_STORE(p, v, "store_seq_cst", SEQ_CST)
#define add_seq_cst(p, v) MODEL_RMW(p, ADD, v, "add_seq_cst", SEQ_CST)

/* Model threads run on one processor thread: nothing to keep apart. */
#define compiler_barrier() ((void)0)

#define spin_pause() ((void)0)

/* Waits until another thread has written to @p since the caller looked. */
#define spin_hint(p) model_spin(MODEL_HERE(p, "spin_hint", RELAXED))

#include "model_calls.h"

#endif
