/* SPDX-License-Identifier: MIT */
/*
 * alloca.c - a program that knows the installed tree only, with a frame that is
 * larger than its stack and its guard together.  Compiled with what sley.pc or
 * the CMake target say, it is told so; without, it writes somewhere else.
 */
#include <alloca.h>
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>

static size_t size;

static void glutton(void *arg)
{
	volatile char *bytes = alloca(size);

	bytes[0] = 1; /* the lowest address, and nothing in between */
	*(char *)arg = bytes[0];
}

int main(int argc, char **argv)
{
	char seen = 0;

	size = (size_t)(argc > 1 ? atoi(argv[1]) : 0) << 10;
	if (sley_run(NULL, glutton, &seen))
		return 1;
	printf("nothing was noticed\n");
	return 0;
}
