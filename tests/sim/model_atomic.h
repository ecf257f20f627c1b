/* SPDX-License-Identifier: MIT */
/*
 * model_atomic.h - base/atomic.h for the simulator (-DSLEY_MODEL): the operations are what
 * they are, and before each is a step (sim/step.h), at which the process may be left for
 * another process, stopped or killed.
 *
 * All processes of the simulator are one thread, so there is one order of everything:
 * weak memory is the explorer's business (tests/model).
 */
#ifndef SLEY_TESTS_SIM_MODEL_ATOMIC_H
#define SLEY_TESTS_SIM_MODEL_ATOMIC_H

#include "step.h"

#define STEP_(op) (sim_step(), (op))
#define STEP_LOAD(p) STEP_(__atomic_load_n((p), __ATOMIC_RELAXED))
#define STEP_STORE(p, v)                                                       \
	(sim_step(), __atomic_store_n((p), (v), __ATOMIC_RELAXED),             \
	 sim_stored((p), sizeof(*(p))))
#define STEP_CAS(p, e, d)                                                      \
	STEP_(__atomic_compare_exchange_n((p), (e), (d), false,                \
					  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
#define STEP_XCHG(p, v) STEP_(__atomic_exchange_n((p), (v), __ATOMIC_RELAXED))
#define STEP_ADD(p, v) STEP_(__atomic_fetch_add((p), (v), __ATOMIC_RELAXED))
#define STEP_SUB(p, v) STEP_(__atomic_fetch_sub((p), (v), __ATOMIC_RELAXED))
#define STEP_OR(p, v) STEP_(__atomic_fetch_or((p), (v), __ATOMIC_RELAXED))
#define STEP_AND(p, v) STEP_(__atomic_fetch_and((p), (v), __ATOMIC_RELAXED))

#define load_relaxed STEP_LOAD
#define load_acquire STEP_LOAD
#define load_seq_cst STEP_LOAD
#define store_relaxed STEP_STORE
#define store_release STEP_STORE
#define xchg_relaxed STEP_XCHG
#define xchg_acquire STEP_XCHG
#define xchg_release STEP_XCHG
#define xchg_acq_rel STEP_XCHG
#define xchg_seq_cst STEP_XCHG
#define cas_relaxed STEP_CAS
#define cas_acquire STEP_CAS
#define cas_release STEP_CAS
#define cas_acq_rel STEP_CAS
#define cas_seq_cst STEP_CAS
#define cas_acq_rel_acquire STEP_CAS
#define add_relaxed STEP_ADD
#define add_acquire STEP_ADD
#define add_release STEP_ADD
#define add_acq_rel STEP_ADD
#define sub_relaxed STEP_SUB
#define sub_release STEP_SUB
#define sub_acq_rel STEP_SUB
#define or_relaxed STEP_OR
#define or_acquire STEP_OR
#define or_release STEP_OR
#define or_acq_rel STEP_OR
#define and_relaxed STEP_AND
#define and_release STEP_AND
#define and_acq_rel STEP_AND

#define compiler_barrier() sim_step()
#define spin_pause() sim_step()
#define spin_hint(p) ((void)(p), sim_step())

#endif
