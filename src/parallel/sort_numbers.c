/* SPDX-License-Identifier: MIT */
/*
 * sort_numbers.c - integers and doubles.
 *
 * Doubles are sorted as integers.  The bits of a double are a sign and a magnitude,
 * so turning the magnitude of negative doubles upside down gives integers in the
 * same order:
 *
 *   -NaN .. -infinity .. -0.0 +0.0 .. +infinity .. +NaN
 *
 * The negative NaNs at the lower end go to the upper end by subtracting the number
 * of negative NaNs, which wraps around.  Both steps can be undone, so no bit of a
 * NaN is lost.  The price is two passes over the array, cheap beside the twenty of
 * the sort; and a comparison of doubles would need a third pass for the NaNs.
 */
#include "base/bits.h"
#include "parallel/sort.h"

#define NUMBER int32_t
#define KERNEL(name) name##_int32
#include "parallel/sort_kernel.h"

#define NUMBER uint32_t
#define KERNEL(name) name##_uint32
#include "parallel/sort_kernel.h"

#define NUMBER int64_t
#define KERNEL(name) name##_int64
#include "parallel/sort_kernel.h"

#define NUMBER uint64_t
#define KERNEL(name) name##_uint64
#include "parallel/sort_kernel.h"

/* ---- doubles --------------------------------------------------------------- */

_Static_assert(sizeof(double) == 8, "IEEE 754 binary64");

#define SIGN (1ull << 63)
#define NR_NANS ((1ull << 52) - 1) /* of one sign */

static uint64_t upside_down(uint64_t bits)
{
	return bits & SIGN ? bits ^ (SIGN - 1) : bits;
}

static uint64_t key_of(uint64_t bits)
{
	return upside_down(bits) - NR_NANS;
}

static uint64_t bits_of(uint64_t key)
{
	return upside_down(key + NR_NANS);
}

struct pass {
	const struct how *how;
	uint64_t *at;
	size_t nr;
	bool back; /* from keys to doubles */
};

#define PASS_GRAIN 16384

/* Never cut short: half of the array would be keys. */
static void pass(void *arg)
{
	struct pass *p = arg, right = *p;
	struct sley_forked child;

	if (p->nr > PASS_GRAIN) {
		right.at += p->nr / 2;
		right.nr -= p->nr / 2;
		p->nr /= 2;
		how_fork(p->how, &child, pass, &right);
		pass(p);
		how_join(p->how, &child);
	} else if (p->back) {
		for (size_t i = 0; i < p->nr; i++)
			p->at[i] = bits_of(p->at[i]);
	} else {
		for (size_t i = 0; i < p->nr; i++)
			p->at[i] = key_of(p->at[i]);
	}
}

static void pass_over(struct sort *sort, bool back)
{
	struct pass p = { .how = &sort->how,
			  .at = (uint64_t *)(void *)sort->base,
			  .nr = sort->nr,
			  .back = back };

	pass(&p);
}

static void sort_doubles(void *arg)
{
	pass_over(arg, false);
	sort_quickly(arg);
	pass_over(arg, true);
}

/* ---- the calls ------------------------------------------------------------- */

static struct sort sort_of(const struct sort_kind *kind, size_t size,
			   void *base, size_t nr)
{
	return (struct sort){
		.kind = kind, .size = size, .base = base, .nr = nr
	};
}

static void sort_numbers(struct sort sort, sley_fn *fn)
{
	how_default(&sort.how);
	(void)!sort_run(&sort, fn, &sort);
}

static int sort_numbers_with(struct sort sort, sley_fn *fn,
			     const struct sley_how *how)
{
	int err = how_read(&sort.how, how);

	return err ? err : sort_run(&sort, fn, &sort);
}

void sley_sort_int32(int32_t *base, size_t nr)
{
	sort_numbers(sort_of(&kind_int32, sizeof(*base), base, nr),
		     sort_quickly);
}

int sley_sort_int32_with(int32_t *base, size_t nr, const struct sley_how *how)
{
	return sort_numbers_with(sort_of(&kind_int32, sizeof(*base), base, nr),
				 sort_quickly, how);
}

void sley_sort_uint32(uint32_t *base, size_t nr)
{
	sort_numbers(sort_of(&kind_uint32, sizeof(*base), base, nr),
		     sort_quickly);
}

int sley_sort_uint32_with(uint32_t *base, size_t nr, const struct sley_how *how)
{
	return sort_numbers_with(sort_of(&kind_uint32, sizeof(*base), base, nr),
				 sort_quickly, how);
}

void sley_sort_int64(int64_t *base, size_t nr)
{
	sort_numbers(sort_of(&kind_int64, sizeof(*base), base, nr),
		     sort_quickly);
}

int sley_sort_int64_with(int64_t *base, size_t nr, const struct sley_how *how)
{
	return sort_numbers_with(sort_of(&kind_int64, sizeof(*base), base, nr),
				 sort_quickly, how);
}

void sley_sort_uint64(uint64_t *base, size_t nr)
{
	sort_numbers(sort_of(&kind_uint64, sizeof(*base), base, nr),
		     sort_quickly);
}

int sley_sort_uint64_with(uint64_t *base, size_t nr, const struct sley_how *how)
{
	return sort_numbers_with(sort_of(&kind_uint64, sizeof(*base), base, nr),
				 sort_quickly, how);
}

void sley_sort_double(double *base, size_t nr)
{
	sort_numbers(sort_of(&kind_int64, sizeof(*base), base, nr),
		     sort_doubles);
}

int sley_sort_double_with(double *base, size_t nr, const struct sley_how *how)
{
	return sort_numbers_with(sort_of(&kind_int64, sizeof(*base), base, nr),
				 sort_doubles, how);
}
