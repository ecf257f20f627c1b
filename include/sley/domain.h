/* SPDX-License-Identifier: MIT */
/*
 * sley/domain.h - domains: several processes share the cores under one order.
 *
 * In a *domain* the most urgent task of all processes runs first, as if they were one
 * program with one set of priorities (.priority of <sley/task.h>).  The same program runs
 * in a domain and outside of it:
 *
 *     SLEY_DOMAIN=work ./frames &
 *     SLEY_DOMAIN=work ./batch &
 *     sley domain --watch work
 *
 * or, in place of the variable, .domain of struct sley_config, or sley_domain_join().
 *
 * Members and the host.  A *member* is a runtime of a process.  The *host* introduces the
 * members to each other and divides the cores among them; it is a daemon, sleyd(8), or a
 * process of its own that the first member starts (sleyd --domain-only) and that ends with
 * its last member.  A domain has up to SLEY_DOMAIN_MEMBERS_MAX members.
 *
 * Cores.  A domain has as many *cores* as the host may use CPUs, at most
 * SLEY_DOMAIN_CORES_MAX.  A member needs a core for each worker that runs or looks for
 * tasks; which worker that is, and on which CPU, is the member's own choice.  A member
 * without work has no core, and a member alone has all of them.  Equal members share by
 * time.  With fewer cores than workers with work of their own, these take turns.
 *
 * Relaxed and strict.  A *relaxed* member looks 500 times a second whether another member
 * has more urgent work, and then gives a core away.  A *strict* member looks before each
 * task; only for a strictly more urgent task that no worker of the other member will take
 * does it give a core away, at once.  Both give between tasks, never in the middle of one.
 * Urgent work waits for neither: one worker of each member that wakes up for it runs at
 * once, beside less urgent work of others, and gets a core if the work lasts.  The kernel
 * helps with that: "sley doctor" says whether this machine has the help.
 *
 * Alone.  If the host dies, its members go on at once, each with all of its workers, and
 * look for the next host: after 1 ms, then less often, up to every 100 ms.  If no daemon
 * hosted the domain, one of them starts the next host.  A member that dies takes nothing
 * with it but its own work: its cores go to others within a few milliseconds.
 *
 * Trust.  A member writes to one page of its own, which all others can read and none can
 * write.  What a member reads there it takes as a hint.  So a member can lie about its own
 * urgency, and get more than its share, but cannot harm the memory of others.  The host
 * decides which users may join: by default its own user, and root; docs/DOMAIN.md has
 * more.
 *
 * fork().  A membership stays with its runtime, which does not survive fork().
 *
 * The single-threaded mode has no workers to share cores for, and cannot join.
 */
#ifndef SLEY_DOMAIN_H
#define SLEY_DOMAIN_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

#define SLEY_DOMAIN_MEMBERS_MAX 64
#define SLEY_DOMAIN_CORES_MAX 256

/* Room for the name of a domain or of its socket, and for that of a program. */
#define SLEY_DOMAIN_NAME 108
#define SLEY_DOMAIN_PROGRAM 144

/*
 * sley_domain_join - make @rt a member of the domain @name.
 *
 * @name has up to 31 letters, digits, '-', '_' and '.'; or it is the path of a socket.
 * If nobody hosts the domain, a host is started: the program that $SLEY_SLEYD names, else
 * the sleyd that was installed with the library, else the one in $PATH.
 *
 * sley_create() makes this call for .domain and $SLEY_DOMAIN.  There a failure is a line
 * in .report, and the program goes on without a domain.
 *
 * Context:  any thread
 * Blocks:   the fiber, until the host has answered; a plain thread sleeps
 * Owner:    @name is borrowed for the call.
 * Errors:   -EALREADY     @rt is a member, or about to be one
 *           -EINVAL       @name is no name
 *           -ENAMETOOLONG a path is longer than 107 bytes
 *           -ENOENT       nobody hosts the domain, and there is no sleyd, or no
 *                         $XDG_RUNTIME_DIR for its socket
 *           -EPIPE        nobody hosts the domain, and the sleyd that was started
 *                         cannot
 *           -EACCES       the host, or the permissions of the path, let this user not in
 *           -EUSERS       the domain has as many members as it may have
 *           -EPROTONOSUPPORT  the host speaks another version
 *           -EPROTO       the host answers nonsense
 *           -ETIMEDOUT    the host does not answer within 10 s
 *           -EOPNOTSUPP   @rt is single-threaded, or the kernel has no memory that one
 *                         process alone can write to (Linux 5.1)
 *           -EAGAIN, -EMFILE, -ENFILE, -ENOMEM
 *           -ESHUTDOWN    @rt is being destroyed
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_domain_join(struct sley *rt, const char *name);

/*
 * sley_domain_leave - @rt is no member of a domain any more.
 *
 * Its workers run as if there were no domain.  sley_destroy() leaves by itself, when all
 * tasks have ended.
 *
 * Context:  any thread
 * Blocks:   the fiber, for some microseconds; a plain thread sleeps
 * Errors:   -ENOTCONN  @rt is no member; or another thread makes it leave
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_domain_leave(struct sley *rt);

/*
 * sley_domain_set_strict - choose between strict and relaxed.
 *
 * Holds from the next task of each worker on, in this domain and in those that @rt joins
 * later.  At first it is .strict of struct sley_config, or $SLEY_DOMAIN_STRICT.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_domain_set_strict(struct sley *rt, bool strict);

/* ---- tasks of other members -------------------------------------------------------------- */

/*
 * The waker of a task (<sley/waker.h>), for the other members of a domain.  Plain numbers,
 * which may be sent anywhere: through a pipe, a file or shared memory.  It holds as long as
 * the membership in which it was made; the same task may be shared again in the next one.
 *
 * The token is a secret.  A member that has not got it cannot wake the task, although it may
 * guess the other numbers.
 */
struct sley_domain_waker {
	uint64_t id;         /* of struct sley_waker; never 0                */
	uint64_t token;      /* wrong tokens are refused, and counted        */
	uint64_t generation; /* of the membership                            */
	uint32_t member;     /* .index of struct sley_domain_info            */
	uint32_t reserved;
};

/*
 * sley_domain_share_waker - the waker @id of a task of this process, for other members.
 *
 * The other members reach the task through @rt, which usually is the runtime of the task.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -ENOTCONN  @rt is no member, or its host is gone
 *           -ESRCH     the task has ended, or never existed
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_domain_share_waker(struct sley *rt, uint64_t id,
			struct sley_domain_waker *out);

/*
 * sley_domain_wake - wake a task of a member of the same domain.
 *
 * The task ends its sley_suspend(), as by sley_wake(), and is queued at its own priority,
 * whatever its workers do.  Further wakes before that have no effect.
 *
 * 0 says that the member will hear it, unless it is killed before.  The member refuses a
 * wake whose task has ended, or whose token is wrong, and counts it; the caller does not
 * hear of that, unless the member is @rt itself.
 *
 * When the host dies, the wakers of its domain end with it: the calls return -ENOTCONN until
 * @rt has joined the next one, and then -ESRCH.  So a task that must not wait for ever
 * waits with a deadline, and shares its waker again.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @waker is borrowed for the call.
 * Order:    everything before the call happens before the return of the sley_suspend()
 *           that it ends.
 * Errors:   -ENOTCONN  @rt is no member, or its host is gone
 *           -ESRCH     there is no such member (any more); or it is @rt, and the task has
 *                      ended
 *           -EAGAIN    the member has not read what was sent to it before; or it has come
 *                      a moment ago, and @rt was not told of it yet; or there is no memory
 *           -ENOLINK   the member cannot be reached: it has refused too many wakes of @rt,
 *                      or is about to end; or the host or one of the two members had no
 *                      descriptor left, or is of an older version
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_domain_wake(struct sley *rt, const struct sley_domain_waker *waker);

/* ---- looking ------------------------------------------------------------------------- */

enum sley_domain_state {
	SLEY_DOMAIN_OUT,     /* @rt is no member                              */
	SLEY_DOMAIN_JOINING, /* the host was asked                            */
	SLEY_DOMAIN_IN,      /* a member                                      */
	SLEY_DOMAIN_ALONE,   /* the host has died; the next one is looked for */
};

/* The membership of a runtime. */
struct sley_domain_info {
	uint32_t size;  /* of this struct; set it before the call           */
	uint32_t state; /* one of enum sley_domain_state                    */
	uint32_t strict;
	uint32_t index;      /* IN: its number, below SLEY_DOMAIN_MEMBERS_MAX */
	uint32_t nr_members; /* IN: with this one                            */
	uint32_t nr_cores;   /* IN: of the domain                            */
	uint32_t nr_held;    /* IN: of them, cores of this member            */
	uint32_t nr_joined;  /* how often it became a member                 */
	uint64_t given;      /* cores handed over to others                  */
	uint64_t taken;      /* cores got from others                        */
	uint64_t entries; /* looks before a task that led to a hand-over: strict */
	uint64_t in_vain; /* hand-overs to a member that had no such task */
	uint64_t overtakes; /* times that a worker ran urgent work without a core */
	uint64_t waits;     /* times that a worker waited for a core        */
	uint64_t wait_ns; /* all of these waits                           */
	char domain[SLEY_DOMAIN_NAME]; /* the name, or the path             */
	/*
	 * IN: work that is more urgent than this priority counts as this among the
	 * members, as the host has decided; else SLEY_PRIORITY_MIN.
	 */
	int32_t most_urgent;
	/* Of sley_domain_wake(): */
	uint64_t rung;      /* wakes that were sent from here                */
	uint64_t woken;     /* wakes of others that found their task here    */
	uint64_t stale;     /* wakes of others whose task had ended          */
	uint64_t forged;    /* wakes of others with a wrong token            */
	uint64_t lines_cut; /* members that are not heard any more           */
	uint64_t reserved[3];
};

/*
 * sley_domain_info - the membership of a runtime, and what it has done so far.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller sets out->size to sizeof(*out).
 * Errors:   -EINVAL  out->size is zero
 *           SLEY_EFORKED
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_domain_info(struct sley *rt, struct sley_domain_info *out);

/* A member, as it describes itself; .most_urgent and .share as the host does. */
struct sley_domain_member {
	uint32_t index;
	int32_t pid; /* 0: not known, as of another container               */
	uint32_t uid;
	uint32_t nr_workers;
	uint32_t strict;
	uint32_t nr_held;    /* cores                                        */
	uint32_t nr_waiting; /* workers that wait for a core                 */
	uint32_t load;       /* workers that are awake                       */
	/*
	 * Bit n: it has ready work of priority n - 32.  Bits of work of the default
	 * priority and below are set only while a worker waits for a core.
	 */
	uint64_t levels;
	/* As in struct sley_domain_info. */
	uint64_t given;
	uint64_t taken;
	uint64_t entries;
	uint64_t in_vain;
	uint64_t overtakes;
	uint64_t waits;
	uint64_t wait_ns;
	/* What the host lets its work count for: struct sley_domain_terms. */
	int32_t most_urgent;
	uint32_t share;
	uint64_t reserved[7];
	char program[SLEY_DOMAIN_PROGRAM];
};

/*
 * sley_domain_list - the members of a domain.
 *
 * Writes at most @room of them to @members, and the number of cores of the domain to
 * *@nr_cores.  Returns how many members there are.  Starts no host.
 *
 * Context:  any thread
 * Blocks:   the thread, until the host has answered
 * Owner:    @name is borrowed for the call; @members may be NULL if @room is 0, and
 *           @nr_cores may be NULL.
 * Errors:   -ENOENT  nobody hosts the domain
 *           -EINVAL, -ENAMETOOLONG, -EACCES, -EPROTO, -EPROTONOSUPPORT, -ETIMEDOUT,
 *           -EMFILE, -ENFILE, -ENOMEM   as sley_domain_join()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD SLEY_MUST_CHECK int
sley_domain_list(const char *name, struct sley_domain_member *members,
		 uint32_t room, uint32_t *nr_cores);

SLEY_END_DECLS
#endif
