/* SPDX-License-Identifier: MIT */
/*
 * subprocess.c - row `subprocess`: a call of an empty function in a subprocess.
 *
 *   ns         there and back; both sides spin, on two CPUs
 *   stream_ns  per call, with calls of many tasks
 *   asleep_ns  the same, but both sides sleep without spinning
 *   p50_ns     there and back after a pause, in which both sides sleep
 *   epoll_p50_ns  the same, if workers sleep in epoll and not in io_uring
 */
#include "rows.h"

static int pin_subprocess(struct sley_subprocess_work *work)
{
	(void)work;
	measure_pin(1);
	return 0;
}

static int add_one(struct sley_subprocess_work *work)
{
	const uint64_t *value = work->arg;

	*(uint64_t *)work->result = *value + 1;
	work->result_size = sizeof(*value);
	return 0;
}

struct callers {
	const struct measure *m;
	struct sley_subprocess *subprocess;
	uint64_t each;
};

static void call(const struct callers *c, uint64_t value)
{
	uint64_t got = 0;
	struct sley_subprocess_result result = { .data = &got,
						 .size = sizeof(got) };

	MEASURE_CHECK(c->m, sley_subprocess_call(c->subprocess, add_one, &value,
						 sizeof(value), &result) == 0);
	MEASURE_CHECK(c->m, got == value + 1);
}

static void create(struct callers *c, uint64_t spin_ns)
{
	MEASURE_CHECK(
		c->m,
		sley_subprocess_create(
			&c->subprocess,
			SLEY_SUBPROCESS_OPTIONS(.spin_ns = spin_ns,
						.on_start = pin_subprocess)) ==
			0);
}

static void spinning(void *arg)
{
	struct callers c = { .m = arg };
	uint64_t nr = measure_size(c.m, SUBPROCESS_TRIPS), start;

	create(&c, 10 * SLEY_SEC);
	measure_pin(0);
	for (uint64_t i = 0; i < nr / 10; i++)
		call(&c, i);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		call(&c, i);
	measure_report_each("ns", start, nr);
	sley_subprocess_destroy(c.subprocess);
}

static void call_often(void *arg)
{
	const struct callers *c = arg;

	for (uint64_t i = 0; i < c->each; i++)
		call(c, i);
}

static void stream(const struct measure *m, const char *metric,
		   uint64_t spin_ns)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[SUBPROCESS_CALLERS];
	struct callers c = { .m = m };
	uint64_t start;

	c.each = measure_size(c.m, SUBPROCESS_TRIPS) / SUBPROCESS_CALLERS;
	create(&c, spin_ns);
	start = measure_now();
	for (int i = 0; i < SUBPROCESS_CALLERS; i++)
		sley_spawn(&group, &tasks[i], call_often, &c);
	sley_join(&group);
	measure_report_each(metric, start, c.each * SUBPROCESS_CALLERS);
	sley_subprocess_destroy(c.subprocess);
}

static void streaming(void *arg)
{
	stream(arg, "stream_ns", 0);
	stream(arg, "asleep_ns", SLEY_SUBPROCESS_NO_SPIN);
}

static uint64_t samples[BLOCKING_SAMPLES];

static uint32_t nr_samples(const struct measure *m)
{
	return m->quick ? 10 : BLOCKING_SAMPLES;
}

static void sleeping(void *arg)
{
	struct callers c = { .m = arg };
	uint32_t nr = nr_samples(c.m);

	create(&c, SLEY_SUBPROCESS_NO_SPIN);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start;

		sley_sleep_until(sley_now() + BLOCKING_PAUSE_NS);
		start = measure_now();
		call(&c, i);
		samples[i] = measure_now() - start;
	}
	sley_subprocess_destroy(c.subprocess);
}

void row_subprocess(const struct measure *m)
{
	if (CPU_COUNT(measure_cpus()) < 2) {
		fprintf(stderr, "subprocess: needs 2 CPUs\n");
		exit(MEASURE_SKIP);
	}
	MEASURE_CHECK(m, sley_subprocess_register("add_one", add_one) == 0);
	MEASURE_CHECK(m, sley_subprocess_register("pin_subprocess",
						  pin_subprocess) == 0);
	MEASURE_CHECK(m, sley_subprocesses_init() == 0);
	row_run(m, spinning, (void *)(uintptr_t)m);
	row_run(m, streaming, (void *)(uintptr_t)m);
	row_run(m, sleeping, (void *)(uintptr_t)m);
	measure_report_percentiles(samples, nr_samples(m));
	row_run_config(SLEY_CONFIG(.workers = m->workers, .no_io_uring = true),
		       sleeping, (void *)(uintptr_t)m);
	measure_report_tail("epoll", samples, nr_samples(m));
	sley_subprocesses_exit();
}
