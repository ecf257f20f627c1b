/* SPDX-License-Identifier: MIT */
/*
 * sort_kernel.h - how numbers of one type are sorted; included once for each.
 *
 *   #define NUMBER int32_t
 *   #define KERNEL(name) name##_int32
 *
 * A cut has no branch that depends on the numbers.  Every number goes to the
 * end of the front part, in exchange for the number there, and only the length
 * of that part says whether the number stays in the front part.  A comparison costs
 * a cycle or two then instead of half a mispredicted branch.
 */

static size_t KERNEL(run)(const struct sort *sort, const char *base, size_t nr)
{
	const NUMBER *a = (const NUMBER *)(const void *)base;
	size_t i = 1;

	(void)sort;
	while (i < nr && a[i - 1] <= a[i])
		i++;
	return i;
}

/* Numbers below @middle to the front; returns how many. */
static size_t KERNEL(below)(NUMBER *a, size_t nr, NUMBER middle)
{
	size_t front = 0;

	for (size_t i = 0; i < nr; i++) {
		NUMBER x = a[i];

		a[i] = a[front];
		a[front] = x;
		front += x < middle;
	}
	return front;
}

/* The same with numbers not above @middle. */
static size_t KERNEL(not_above)(NUMBER *a, size_t nr, NUMBER middle)
{
	size_t front = 0;

	for (size_t i = 0; i < nr; i++) {
		NUMBER x = a[i];

		a[i] = a[front];
		a[front] = x;
		front += x <= middle;
	}
	return front;
}

static NUMBER KERNEL(median)(NUMBER a, NUMBER b, NUMBER c)
{
	NUMBER low = a < b ? a : b;
	NUMBER high = a < b ? b : a;

	high = c < high ? c : high;
	return high < low ? low : high;
}

static NUMBER KERNEL(median_of_sample)(const NUMBER *a, size_t nr,
				       struct rand *rand)
{
	NUMBER x = a[sort_sample(rand, nr)];
	NUMBER y = a[sort_sample(rand, nr)];

	return KERNEL(median)(x, y, a[sort_sample(rand, nr)]);
}

static NUMBER KERNEL(middle)(const NUMBER *a, size_t nr, struct rand *rand)
{
	NUMBER x, y;

	if (nr < SORT_NINE)
		return KERNEL(median)(a[0], a[nr / 2], a[nr - 1]);
	x = KERNEL(median_of_sample)(a, nr, rand);
	y = KERNEL(median_of_sample)(a, nr, rand);
	return KERNEL(median)(x, y, KERNEL(median_of_sample)(a, nr, rand));
}

static struct sort_cut KERNEL(cut)(const struct sort *sort, char *base,
				   size_t nr, struct rand *rand)
{
	NUMBER *a = (NUMBER *)(void *)base;
	NUMBER middle = KERNEL(middle)(a, nr, rand);
	size_t front = KERNEL(below)(a, nr, middle);

	(void)sort;
	if (front == 0)
		return (struct sort_cut){ 0, KERNEL(not_above)(a, nr, middle) };
	return (struct sort_cut){ front, front };
}

static void KERNEL(insertion)(const struct sort *sort, char *base, size_t nr)
{
	NUMBER *a = (NUMBER *)(void *)base;

	(void)sort;
	for (size_t i = 1; i < nr; i++) {
		NUMBER x = a[i];
		size_t to = i;

		for (; to > 0 && x < a[to - 1]; to--)
			a[to] = a[to - 1];
		a[to] = x;
	}
}

/* Put @x into the heap of @nr, from place @i, which is free, downwards. */
static void KERNEL(sink)(NUMBER *a, size_t i, size_t nr, NUMBER x)
{
	size_t child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		child += child + 1 < nr && a[child] < a[child + 1];
		if (a[child] <= x)
			break;
		a[i] = a[child];
	}
	a[i] = x;
}

static void KERNEL(heap)(const struct sort *sort, char *base, size_t nr)
{
	NUMBER *a = (NUMBER *)(void *)base;

	(void)sort;
	for (size_t i = nr / 2; i-- > 0;)
		KERNEL(sink)(a, i, nr, a[i]);
	for (size_t i = nr; i-- > 1;) {
		NUMBER last = a[i];

		a[i] = a[0];
		KERNEL(sink)(a, 0, i, last);
	}
}

static const struct sort_kind KERNEL(kind) = {
	KERNEL(run),
	KERNEL(cut),
	KERNEL(insertion),
	KERNEL(heap),
};

#undef NUMBER
#undef KERNEL
