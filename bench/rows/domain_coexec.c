/* SPDX-License-Identifier: MIT */
/*
 * domain_coexec.c - row `domain-coexec`: two fork-join programs on the same cores, from
 * their common begin to the later end.
 *
 *   domain-coexec                 both at the same time, members of a domain
 *   domain-coexec-oversubscribed  both at the same time, without a domain
 *   domain-coexec-in-turn         one after the other, without a domain
 *
 * A program is a sequence of loops, each of as many pieces of 100 us as there are
 * iterations.  The end of each loop waits for all of its pieces: a worker that the kernel
 * has put aside holds up the program.
 */
#include "domain.h"

#include "../problems/kernels.h"

#define NR_PROGRAMS 2

enum how { TOGETHER, OVERSUBSCRIBED, IN_TURN };

struct coexec {
	const struct measure *m;
	struct domain domain;
	enum how how;
	uint64_t turns; /* of the kernel, for a piece */
	uint32_t nr_loops;
};

static void pieces(size_t begin, size_t end, void *arg)
{
	const struct coexec *coexec = arg;
	for (size_t i = begin; i < end; i++)
		(void)kernel_lcg(i, coexec->turns);
}

static void program(void *arg)
{
	struct coexec *coexec = arg;

	for (uint32_t i = 0; i < coexec->nr_loops; i++)
		MEASURE_CHECK(coexec->m,
			      sley_for_with(0, COEXEC_PIECES, pieces, coexec,
					    SLEY_HOW(.grain = 1)) == 0);
}

static void run_member(struct crowd_member *member)
{
	struct coexec *coexec = member->arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	if (coexec->how == TOGETHER)
		rt = domain_member(&coexec->domain, coexec->m->workers, true);
	else
		MEASURE_CHECK(
			coexec->m,
			sley_create(&rt,
				    SLEY_CONFIG(.workers =
							coexec->m->workers)) ==
				0);
	crowd_begin(member);
	MEASURE_CHECK(coexec->m, sley_spawn_on(rt, &group, &task, program,
					       coexec, NULL) == 0);
	sley_join(&group);
	crowd_end(member);
	sley_destroy(rt);
}

static uint64_t calibrate(void)
{
	uint64_t start = measure_now();

	kernel_lcg(start, 1000000);
	start = measure_now() - start;
	return 1000000ull * COEXEC_PIECE_NS / start;
}

static void measure_how(const struct measure *m, enum how how)
{
	struct coexec coexec = { .m = m,
				 .domain = { .m = m },
				 .how = how,
				 .turns = calibrate(),
				 .nr_loops = m->quick ? 2 : COEXEC_LOOPS };
	struct measure crowd = *m;
	uint64_t ns = 0;

	crowd.workers = how == IN_TURN ? 1 : NR_PROGRAMS; /* processes */
	if (how == TOGETHER)
		domain_start(&coexec.domain);
	for (int i = 0; i < (how == IN_TURN ? NR_PROGRAMS : 1); i++)
		ns += crowd_run_unpinned(&crowd, run_member, &coexec);
	if (how == TOGETHER)
		domain_stop(&coexec.domain);
	measure_report("ns", (double)ns);
}

void row_domain_coexec(const struct measure *m)
{
	measure_how(m, TOGETHER);
}

void row_domain_coexec_oversubscribed(const struct measure *m)
{
	measure_how(m, OVERSUBSCRIBED);
}

void row_domain_coexec_in_turn(const struct measure *m)
{
	measure_how(m, IN_TURN);
}
