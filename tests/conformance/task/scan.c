/* SPDX-License-Identifier: MIT */
/*
 * scan.c - for each element, the sum of all up to it.
 */
#include "conformance/everywhere.h"

#include <math.h>

enum { MOST = 100000 };

static int64_t in[MOST], out[MOST], right[MOST];

static void make_integers(void)
{
	uint64_t x = 1;

	for (size_t i = 0; i < MOST; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		in[i] = (int64_t)x; /* sums wrap around */
	}
}

static const size_t lengths[] = { 0,    1,    2,    3,     4,     5,
				  31,   64,   100,  127,   128,   129,
				  1000, 4097, 9999, 16384, 33000, MOST };

static const struct sley_how *const ways[] = {
	&(const struct sley_how){ .size = sizeof(struct sley_how) },
	&(const struct sley_how){ .size = sizeof(struct sley_how),
				  .ordered = true },
	&(const struct sley_how){ .size = sizeof(struct sley_how),
				  .grain = 50 },
	&(const struct sley_how){
		.size = sizeof(struct sley_how), .grain = 37, .ordered = true },
	&(const struct sley_how){ .size = sizeof(struct sley_how),
				  .grain = SIZE_MAX },
	&(const struct sley_how){ .size = sizeof(struct sley_how),
				  .priority = -5 },
};

static void serial_int64(size_t nr, bool before)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t next = sum + (uint64_t)in[i];

		right[i] = (int64_t)(before ? sum : next);
		sum = next;
	}
}

static void check_right(size_t nr)
{
	CHECK(memcmp(out, right, nr * sizeof(*out)) == 0);
	if (nr < MOST)
		CHECK_EQ(out[nr], -7); /* untouched */
	memset(out, 0, sizeof(out));
	if (nr < MOST)
		out[nr] = -7;
}

static void check_int64(size_t nr)
{
	if (nr < MOST)
		out[nr] = -7;
	serial_int64(nr, false);
	sley_scan_int64(out, in, nr);
	check_right(nr);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		CHECK_EQ(sley_scan_int64_with(out, in, nr, ways[i]), 0);
		check_right(nr);
	}
	serial_int64(nr, true);
	sley_scan_before_int64(out, in, nr);
	check_right(nr);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		memcpy(out, in, nr * sizeof(*in)); /* in place */
		CHECK_EQ(sley_scan_before_int64_with(out, out, nr, ways[i]), 0);
		check_right(nr);
	}
}

static void check_lengths(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		check_int64(lengths[i]);
}

TEST_WORKERS(scan_is_what_a_loop_gives)
{
	make_integers();
	from_everywhere(check_lengths, NULL);
}

TEST(scan_with_any_number_of_workers)
{
	make_integers();
	with_many_workers(check_lengths, NULL);
}

/* ---- doubles ---------------------------------------------------------------- */

static double from[MOST], to[MOST], first[MOST];

static void make_doubles(void)
{
	double x = 0.1;

	for (size_t i = 0; i < MOST; i++) {
		x = 3.9 * x * (1 - x);
		from[i] = (x - 0.3) * (i % 5 ? 1 : 1e6);
	}
}

static void check_doubles(void *arg)
{
	double sum = 0, error = 0;

	(void)arg;
	sley_scan_double(to, from, MOST);
	for (size_t i = 0; i < MOST; i++) {
		sum += from[i];
		error = fmax(error, fabs(to[i] - sum));
	}
	CHECK(error < 1e-2);
	sley_scan_before_double(to, from, MOST);
	sum = 0;
	for (size_t i = 0; i < MOST; i++) {
		error = fmax(error, fabs(to[i] - sum));
		sum += from[i];
	}
	CHECK(error < 1e-2);
}

TEST_WORKERS(scan_doubles_nearly_as_a_loop_does)
{
	make_doubles();
	from_everywhere(check_doubles, NULL);
}

struct bits {
	size_t nr, grain;
	bool before, known;
};

static void compare_bits(void *arg)
{
	struct bits *bits = arg;
	const struct sley_how *how =
		SLEY_HOW(.ordered = true, .grain = bits->grain);

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(bits->before ? sley_scan_before_double_with(
						to, from, bits->nr, how)
				      : sley_scan_double_with(to, from,
							      bits->nr, how),
			 0);
		if (!bits->known)
			memcpy(first, to, sizeof(to));
		bits->known = true;
		CHECK(memcmp(first, to, bits->nr * sizeof(*to)) == 0);
	}
}

TEST(scan_ordered_has_the_same_bits_with_any_number_of_workers)
{
	make_doubles();
	for (int i = 0; i < 6; i++) {
		struct bits bits = {
			.nr = i < 3 ? MOST : 777,
			.grain = i % 3 == 2 ? 55 : 0,
			.before = i % 2,
		};

		with_many_workers(compare_bits, &bits);
	}
}

TEST_WORKERS(scan_ordered_has_the_same_bits_whoever_calls)
{
	struct bits bits = { .nr = MOST };

	make_doubles();
	compare_bits(&bits);
	from_everywhere(compare_bits, &bits);
}

/* ---- any kind of value -------------------------------------------------------- */

/* Joining ranges is associative, and anything but commutative. */
struct span {
	size_t begin, end;
	char fill[SLEY_REDUCTION_MAX - 2 * sizeof(size_t)];
};

static struct spans {
	size_t begin, end;
	bool blocks; /* and the functions of the test do */
	atomic_uchar written[MOST], added[MOST];
} spans;

static void maybe_block(void)
{
	if (spans.blocks && test_random(20) == 0)
		CHECK_EQ(sley_sleep(test_random(50) * SLEY_USEC), 0);
	else if (spans.blocks && test_random(4) == 0)
		sley_yield();
}

static void span_init(void *of, void *arg)
{
	struct span *span = of;

	(void)arg;
	CHECK_EQ((uintptr_t)of % 16, 0);
	memset(span, 'x', sizeof(*span));
	span->begin = SIZE_MAX;
}

static void span_join(struct span *span, size_t begin, size_t end)
{
	for (size_t i = 0; i < sizeof(span->fill); i++)
		CHECK_EQ(span->fill[i], 'x');
	if (span->begin == SIZE_MAX)
		span->begin = begin;
	else
		CHECK_EQ(span->end, begin);
	span->end = end;
}

static void span_add(void *of, size_t begin, size_t end, void *arg)
{
	(void)arg;
	for (size_t i = begin; i < end; i++)
		CHECK_EQ(atomic_fetch_add(&spans.added[i - spans.begin], 1), 0);
	maybe_block();
	span_join(of, begin, end);
}

static void span_combine(void *of, const void *next, void *arg)
{
	const struct span *span = next;

	(void)arg;
	maybe_block();
	span_join(of, span->begin, span->end);
}

static void span_write(void *before, size_t begin, size_t end, void *arg)
{
	struct span *span = before;

	(void)arg;
	if (begin == spans.begin) {
		CHECK_EQ(span->begin, SIZE_MAX);
	} else {
		CHECK_EQ(span->begin, spans.begin);
		CHECK_EQ(span->end, begin);
	}
	for (size_t i = begin; i < end; i++)
		CHECK_EQ(atomic_fetch_add(&spans.written[i - spans.begin], 1),
			 0);
	maybe_block();
	span_join(span, begin, end);
}

static const struct sley_reduction join = {
	.size = sizeof(struct span),
	.init = span_init,
	.add = span_add,
	.combine = span_combine,
};

static void spans_clear(size_t begin, size_t nr, bool blocks)
{
	memset(&spans, 0, sizeof(spans));
	spans.begin = begin;
	spans.end = begin + nr;
	spans.blocks = blocks;
}

static size_t nr_written(void)
{
	size_t sum = 0;

	for (size_t i = 0; i < MOST; i++)
		sum += spans.written[i];
	return sum;
}

static void check_span(size_t begin, size_t nr, bool blocks)
{
	spans_clear(begin, nr, blocks);
	sley_scan(begin, begin + nr, &join, span_write, NULL);
	CHECK_EQ(nr_written(), nr);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		spans_clear(begin, nr, blocks);
		CHECK_EQ(sley_scan_with(begin, begin + nr, &join, span_write,
					NULL, ways[i]),
			 0);
		CHECK_EQ(nr_written(), nr);
	}
}

static void check_spans(void *arg)
{
	(void)arg;
	for (size_t nr = 1; nr < 10000; nr = nr * 5 + 1) {
		check_span(11, nr, false);
		check_span(SIZE_MAX - nr, nr, false);
	}
	spans_clear(0, 10, false);
	sley_scan(5, 5, &join, span_write, NULL);
	sley_scan(5, 4, &join, span_write, NULL);
	CHECK_EQ(nr_written(), 0);
}

TEST_WORKERS(scan_combines_with_the_right_neighbour_only)
{
	from_everywhere(check_spans, NULL);
}

static void check_blocking(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		check_span(0, 3000, true);
}

TEST_WORKERS(scan_functions_may_block)
{
	struct sley *rt = start();

	run_task(check_blocking, NULL);
	stop(rt);
}

/* ---- grains --------------------------------------------------------------------- */

static atomic_size_t shortest;

static void note_length(size_t length)
{
	size_t known = shortest;

	while (length < known &&
	       !atomic_compare_exchange_weak(&shortest, &known, length))
		;
}

static void note_nothing(void *of, void *arg)
{
	(void)of;
	(void)arg;
}

static void note_pair(void *of, const void *next, void *arg)
{
	(void)of;
	(void)next;
	(void)arg;
}

static void note_piece(void *of, size_t begin, size_t end, void *arg)
{
	(void)of;
	(void)arg;
	note_length(end - begin);
}

/* Also at the end of a stretch: there are more blocks than in a table. */
static void check_grain(void *arg)
{
	static const struct sley_reduction note = {
		.size = SLEY_REDUCTION_MAX,
		.init = note_nothing,
		.add = note_piece,
		.combine = note_pair,
	};

	(void)arg;
	for (size_t nr = 1; nr < 1000; nr += 11) {
		for (size_t grain = 1; grain < 100; grain += 7) {
			shortest = SIZE_MAX;
			CHECK_EQ(sley_scan_with(0, nr, &note, note_piece, NULL,
						SLEY_HOW(.grain = grain,
							 .ordered = grain & 1)),
				 0);
			CHECK_LE(grain < nr ? grain : nr, shortest);
		}
	}
}

TEST_WORKERS(scan_no_piece_is_smaller_than_the_grain)
{
	from_everywhere(check_grain, NULL);
}

/* ---- refused, cancelled ------------------------------------------------------- */

TEST(scan_with_reads_what_it_is_given)
{
	struct sley_reduction large = join;
	struct sley_how none = { .grain = 1 };

	large.size = SLEY_REDUCTION_MAX + 1;
	CHECK_EQ(sley_scan_with(0, 9, &large, span_write, NULL, NULL), -EINVAL);
	CHECK_EQ(sley_scan_with(0, 9, &join, span_write, NULL, &none), -EINVAL);
	CHECK_EQ(sley_scan_int64_with(out, in, 9, SLEY_HOW(.priority = 99)),
		 SLEY_EPRIORITY);
	CHECK_EQ(out[1], 0);
}

TEST_ABORTS(scan_of_too_large_values_aborts, "sley: misuse in sley_scan")
{
	struct sley_reduction large = join;

	large.size = 0;
	sley_scan(0, 9, &large, span_write, NULL);
}

struct victim {
	struct sley_task task;
	size_t at;
};

static void write_and_cancel(void *before, size_t begin, size_t end, void *arg)
{
	struct victim *v = arg;

	span_write(before, begin, end, NULL);
	if (begin <= v->at && v->at < end)
		sley_cancel(&v->task);
}

static void scan_until_cancelled(void *arg)
{
	struct victim *v = arg;

	spans_clear(0, MOST, false);
	CHECK_EQ(sley_scan_with(0, MOST, &join, write_and_cancel, v,
				SLEY_HOW(.grain = 20)),
		 -ECANCELED);
	CHECK_GT(nr_written(), 0);
	CHECK_LT(nr_written(), MOST);
	spans_clear(0, MOST, false);
	CHECK_EQ(sley_scan_with(0, MOST, &join, write_and_cancel, v,
				SLEY_HOW(.ordered = true)),
		 -ECANCELED);
	CHECK_EQ(nr_written(), 0);
	sley_scan(0, MOST, &join, write_and_cancel, v);
	CHECK_EQ(nr_written(), MOST);
}

TEST_WORKERS(scan_is_cancelled_with_the_caller)
{
	struct sley *rt = start();

	for (int i = 0; i < 5; i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct victim v = { .at = test_random(5000) };

		sley_spawn(&group, &v.task, scan_until_cancelled, &v);
		sley_join(&group);
	}
	stop(rt);
}
