/* SPDX-License-Identifier: MIT */
/*
 * filter.c - see filter.h.
 *
 * Of the architecture nothing is asked: the filter is for this program and for
 * others built with it.
 */
#include "hostile/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip)                                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))

static int install(struct sock_filter *code, unsigned short length)
{
	struct sock_fprog program = { .len = length, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC, &program))
		return -errno;
	return 0;
}

int filter_forbid(int number, int err)
{
	struct sock_filter code[] = {
		LOAD(nr),
		UNLESS((unsigned int)number, 1),
		RETURN(SECCOMP_RET_ERRNO | (unsigned int)err),
		RETURN(SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}

int filter_forbid_argument(int number, int index, unsigned int value, int err)
{
	struct sock_filter code[] = {
		LOAD(nr),
		UNLESS((unsigned int)number, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (unsigned int)(offsetof(struct seccomp_data, args) +
					8 * (size_t)index)),
		UNLESS(value, 1),
		RETURN(SECCOMP_RET_ERRNO | (unsigned int)err),
		RETURN(SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}
