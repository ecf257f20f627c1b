/* SPDX-License-Identifier: MIT */
/*
 * test_member.c - a program with a runtime, whose domain the environment names.
 *
 * It prints a line for each state of its membership, and ends when its input does.
 *
 *   test_member sleep                          a task prints its waker, and when it is woken
 *   test_member PRIORITY PLACE:PATH            a task takes turns, as in test_turns.h
 *   test_member ID TOKEN GENERATION MEMBER     wakes that task, and ends
 */
#include "test_turns.h"

#include <errno.h>
#include <poll.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const names[] = { "out", "joining", "in", "alone" };

static struct sley *rt;

static void sleeper(void *arg)
{
	struct sley_domain_waker numbers;
	struct sley_waker waker;
	int err = sley_waker_self(&waker);

	(void)arg;
	if (!err)
		err = sley_domain_share_waker(rt, waker.id, &numbers);
	if (!err) {
		printf("%llu %llu %llu %u\n", (unsigned long long)numbers.id,
		       (unsigned long long)numbers.token,
		       (unsigned long long)numbers.generation, numbers.member);
		fflush(stdout);
		err = sley_suspend();
	}
	printf("woken: %s\n", sley_strerror(err));
	fflush(stdout);
}

static void take_turns(void *where)
{
	int err = test_turns_take(where);

	if (err)
		fprintf(stderr, "%s: %s\n", (const char *)where,
			sley_strerror(err));
}

static int wake(char **numbers)
{
	const struct sley_domain_waker waker = {
		.id = strtoull(numbers[0], NULL, 10),
		.token = strtoull(numbers[1], NULL, 10),
		.generation = strtoull(numbers[2], NULL, 10),
		.member = (uint32_t)strtoul(numbers[3], NULL, 10),
	};
	int err;

	while ((err = sley_domain_wake(rt, &waker)) == -EAGAIN)
		sley_sleep(SLEY_MSEC);
	printf("%s\n", sley_strerror(err));
	return err;
}

int main(int argc, char **argv)
{
	struct sley_domain_info info = { .size = sizeof(info) };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint32_t last = UINT32_MAX;
	int err = sley_create(&rt, SLEY_CONFIG(.workers = 2));

	if (!err && argc == 5)
		return wake(argv + 1) || sley_destroy(rt);
	if (!err && argc == 2)
		err = sley_schedule_on(rt, sleeper, NULL, NULL);
	if (!err && argc == 3)
		err = sley_schedule_on(rt, take_turns, argv[2],
				       SLEY_OPTIONS(.priority = atoi(argv[1])));
	while (!err && poll(&input, 1, 1) == 0) {
		err = sley_domain_info(rt, &info);
		if (!err && info.state != last)
			printf("%s\n", names[info.state]);
		fflush(stdout);
		last = info.state;
	}
	return err || sley_destroy(rt);
}
