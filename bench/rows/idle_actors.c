/* SPDX-License-Identifier: MIT */
/*
 * idle_actors.c - rows `idle-actors` and `idle-actors-10m`: a million processes,
 * and ten, that wait for a message.
 *
 * `bytes` is the resident memory per process: the process, its state, and the pid
 * that the row keeps for sending.  `gib` is the memory of all processes.  `ns` is
 * the time until a created process waits.
 */
#include "actors.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

struct crowd {
	const struct measure *m;
	struct answer answer;
	uint64_t nr;
	uint64_t here; /* by any worker, hence atomic */
	uint64_t ended;
	uint64_t sum;
};

struct idler {
	struct crowd *crowd;
	uint64_t value;
};

static enum sley_step idler_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	struct idler *idler = self;
	struct crowd *c = idler->crowd;

	if (nr == 0) {
		__atomic_fetch_add(&c->here, 1, __ATOMIC_RELAXED);
		return SLEY_WAIT;
	}
	__atomic_fetch_add(&c->sum, idler->value + actors_word(msg[0]),
			   __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&c->ended, 1, __ATOMIC_ACQ_REL) == c->nr)
		answer_give(&c->answer, c->sum);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour idler = {
	.name = "idler",
	.size = sizeof(struct idler),
	.init = actors_init,
	.step = idler_step,
};

static void root(void *arg)
{
	struct crowd *c = arg;
	uint64_t nr = c->nr, rss = measure_rss(), start = measure_now(), grown;
	sley_pid *pids = calloc(nr, sizeof(*pids));
	struct idler state = { .crowd = c };

	MEASURE_CHECK(c->m, pids != NULL);
	for (state.value = 0; state.value < nr; state.value++)
		pids[state.value] = actors_spawn(c->m, &idler, &state);
	while (__atomic_load_n(&c->here, __ATOMIC_RELAXED) < nr)
		sley_yield();
	measure_report_each("ns", start, nr);
	grown = measure_rss() - rss;
	measure_report("bytes", (double)grown / (double)nr);
	measure_report("gib", (double)grown / GIB);
	for (uint64_t i = 0; i < nr; i++)
		actors_send(pids[i], 0, 1);
	MEASURE_CHECK(c->m, answer_take(&c->answer) == nr * (nr + 1) / 2);
	free(pids);
}

static void wait_all(const struct measure *m, uint64_t nr)
{
	struct crowd c = {
		.m = m,
		.answer = ANSWER_INIT,
		.nr = m->quick ? IDLE_ACTORS_QUICK : nr,
	};

	row_run(m, root, &c);
}

void row_idle_actors(const struct measure *m)
{
	wait_all(m, IDLE_ACTORS);
}

/* Enough memory for the processes, and a bit for the kernel, has to be free. */
void row_idle_actors_10m(const struct measure *m)
{
	uint64_t pages = (uint64_t)sysconf(_SC_AVPHYS_PAGES);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!m->quick && (double)(pages * page) < 9 * GIB) {
		fprintf(stderr, "%s: needs 9 GiB of memory\n", m->row);
		exit(MEASURE_SKIP);
	}
	wait_all(m, IDLE_ACTORS_MANY);
}
