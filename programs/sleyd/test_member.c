/* SPDX-License-Identifier: MIT */
/*
 * test_member.c - a program with a runtime, whose domain the environment names.
 *
 * It prints a line for each state of its membership, and ends when its input does.
 */
#include <poll.h>
#include <sley/sley.h>
#include <stdio.h>
#include <unistd.h>

static const char *const names[] = { "out", "joining", "in", "alone" };

int main(void)
{
	struct sley_domain_info info = { .size = sizeof(info) };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint32_t last = UINT32_MAX;
	struct sley *rt;
	int err = sley_create(&rt, SLEY_CONFIG(.workers = 2));

	while (!err && poll(&input, 1, 1) == 0) {
		err = sley_domain_info(rt, &info);
		if (!err && info.state != last)
			printf("%s\n", names[info.state]);
		fflush(stdout);
		last = info.state;
	}
	return err || sley_destroy(rt);
}
