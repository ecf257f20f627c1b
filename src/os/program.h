/* SPDX-License-Identifier: MIT */
/*
 * program.h - other programs: started with chosen descriptors, and known by a pidfd.
 *
 * No call changes errno.
 */
#ifndef SLEY_OS_PROGRAM_H
#define SLEY_OS_PROGRAM_H

#include "base/compiler.h"

#include <stdbool.h>

struct os_program {
	const char *const *argv;
	const char *const *environment; /* NULL: that of this process      */
	const char *directory;          /* NULL: that of this process      */
	int fd[3]; /* its input, output and errors; below 0: /dev/null     */
};

/* Its pid, and a pidfd in *@pidfd; or -errno, and nothing runs.  Takes a while. */
must_check int os_program_start(const struct os_program *program, int *pidfd);

/*
 * 0, and how the program ended: @exited by exit(*@code), or else killed by signal
 * *@code.  -EAGAIN: it runs still; -ECHILD: others have asked before.
 */
must_check int os_program_reap(int pidfd, bool *exited, int *code);

/* The program was killed: waits until it is gone. */
void os_program_end(int pidfd);

must_check int os_program_signal(int pidfd, int signal);

#endif
