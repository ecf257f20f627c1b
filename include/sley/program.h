/* SPDX-License-Identifier: MIT */
/*
 * sley/program.h - start other programs, and wait for their ends.
 *
 *     const char *const argv[] = { "sort", "-n", NULL };
 *     struct sley_program sort;
 *     int err = sley_program_start(
 *             &sort, argv,
 *             SLEY_PROGRAM_OPTIONS(.in = SLEY_PROGRAM_PIPE,
 *                                  .out = SLEY_PROGRAM_PIPE));
 *
 *     n = sley_io_write(sort.in, "3\n1\n2\n", 6);
 *     sley_program_shut(&sort);
 *     n = sley_io_read(sort.out, data, sizeof(data));
 *     err = sley_program_wait(&sort, &end);
 *     sley_program_close(&sort);
 *
 * Input, output and errors of the program are those of this process, a pipe, a
 * descriptor, or nothing.  The ends of the pipes are ordinary descriptors for
 * <sley/io.h>.  A program whose output is not read stops when the pipe is full, as
 * ever: let one task read while another waits.
 *
 * The program starts with no signal blocked, and with the default action of
 * SIGPIPE.  It inherits the descriptors that are not closed by exec.
 *
 * For functions of this program in another process see <sley/subprocess.h>.
 */
#ifndef SLEY_PROGRAM_H
#define SLEY_PROGRAM_H

#include <sley/compiler.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

/* For .in, .out and .err: */
#define SLEY_PROGRAM_PIPE (-1)    /* a pipe to the caller               */
#define SLEY_PROGRAM_NOTHING (-2) /* /dev/null                          */

struct sley_program_options {
	uint32_t size; /* of this struct; SLEY_PROGRAM_OPTIONS sets it      */
	int32_t in;    /* 0: as this process; a descriptor; or see above    */
	int32_t out;
	int32_t err;
	const char *directory;          /* NULL: as this process            */
	const char *const *environment; /* NULL: as this process            */
	uint64_t reserved[4];
};

#define SLEY_PROGRAM_OPTIONS(...)                                              \
	SLEY_LITERAL(struct sley_program_options, __VA_ARGS__)

struct sley_program {
	int in;  /* write here; -1: no pipe                                 */
	int out; /* read here; -1: no pipe                                  */
	int err;
	int pid;
	int pidfd; /* private: -1 after the end was told                    */
};

/* How a program has ended. */
struct sley_program_end {
	bool exited; /* else a signal has killed it                         */
	int code;    /* of exit()                                           */
	int signal;
};

/*
 * sley_program_start - start a program.
 *
 * @argv has the name, which is looked up in $PATH unless it has a slash, and the
 * arguments, and ends with NULL.  @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread makes the calls itself
 * Owner:    @program belongs to the caller until sley_program_close(); @argv and
 *           @options are borrowed for the call.
 * Errors:   -ENOENT, -EACCES, -ENOEXEC  there is no such program, or it cannot be run
 *           -EINVAL     @argv is empty, or options->size is zero
 *           -EBADF      a descriptor of @options is not open
 *           -EMFILE, -ENFILE, -ENOMEM, -EAGAIN  no room for pipes or a process
 *           -E2BIG      too many arguments, or a newer field is set
 *           -ECANCELED  the task was cancelled before; nothing was started
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_program_start(struct sley_program *program, const char *const *argv,
		   const struct sley_program_options *options);

/*
 * sley_program_wait_until - sley_program_wait() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  the program runs still
 *           and as sley_program_wait()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_program_wait_until(struct sley_program *program,
			struct sley_program_end *end, uint64_t deadline_ns);

/*
 * sley_program_wait - wait until a program has ended.
 *
 * *@end tells how.  The end is told once.  One task at a time.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ECANCELED  the task was cancelled; the program runs on
 *           -ESRCH      the end was told before
 *           -ECHILD     SIGCHLD is ignored, or other code of this process has waited
 *                       for the program: how it ended is lost
 *           -EMFILE, -ENFILE, -ENOMEM, -ENOSPC  as sley_io_read()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_program_wait(struct sley_program *program, struct sley_program_end *end)
{
	return sley_program_wait_until(program, end, SLEY_FOREVER);
}

/*
 * sley_program_signal - send a signal to a program.
 *
 * Never reaches another process, even if the number of the process was given out
 * again.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ESRCH   the program has ended
 *           -EINVAL  there is no such signal
 *           -EPERM   the program has another user
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_program_signal(struct sley_program *program, int signal);

/*
 * sley_program_shut - close the pipe to the input of a program.
 *
 * The program reads the end of its input.  Does nothing if there is no pipe.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_program_shut(struct sley_program *program);

/*
 * sley_program_close - give up a program: close its pipes, and end it.
 *
 * A program whose end was not told is killed, and the call waits until it is gone.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the memory of @program is the caller's again.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_program_close(struct sley_program *program);

SLEY_END_DECLS
#endif
