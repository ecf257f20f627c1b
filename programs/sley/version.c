/* SPDX-License-Identifier: MIT */
/*
 * version.c - sley version: the library, the headers, the compiler, the platform.
 */
#include "command.h"

#include <sley/sley.h>
#include <stdio.h>
#include <sys/utsname.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static int run(int argc, char **argv)
{
	int status = command_no_arguments(&command_version, argc, argv);
	struct utsname name;

	if (status)
		return status;
	printf("sley %s\n", sley_version());
	printf("headers   %s\n", SLEY_VERSION);
	printf("compiler  %s\n", COMPILER);
	if (uname(&name) == 0)
		printf("platform  %s %s, %s\n", name.sysname, name.release,
		       name.machine);
	return STATUS_OK;
}

const struct command command_version = {
	.name = "version",
	.arguments = "",
	.summary = "library, headers, compiler, platform",
	.help = "The first line is the version of the library.  It differs from "
		"that of the\nheaders if the program was built against others.\n",
	.run = run,
};
