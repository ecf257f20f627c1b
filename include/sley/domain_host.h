/* SPDX-License-Identifier: MIT */
/*
 * sley/domain_host.h - host a domain (<sley/domain.h>).
 *
 * sleyd(8) is such a program; most others need this header never.  A host is a thread,
 * which sleeps while the domain has fewer than two members:
 *
 *     err = sley_domain_host_create(&host, SLEY_DOMAIN_HOST_OPTIONS(.name = "work"));
 *     ...
 *     sley_domain_host_destroy(host);
 *
 * If the process of the host ends, its members go on alone, until there is another host.
 * So a process that does other things is a bad host; a process that is a member as well
 * takes the host with it when it ends.
 *
 * A process that may take a higher nice value back (CAP_SYS_NICE) hosts with more effect: the
 * workers of a member that does not yield to more urgent work get 19 for a while.
 *
 * fork().  A host stays with the process that created it.
 */
#ifndef SLEY_DOMAIN_HOST_PUBLIC_H
#define SLEY_DOMAIN_HOST_PUBLIC_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_domain_host;

/* Another process, for a callback; borrowed for the call. */
struct sley_domain_peer {
	uint32_t uid;
	uint32_t gid;
	int32_t pid; /* 0: not known, as of another container               */
	uint32_t reserved;
};

#define SLEY_DOMAIN_SHARE 100 /* of a member, if nobody says otherwise    */
#define SLEY_DOMAIN_SHARE_MAX 10000

/*
 * What the work of a member counts for among that of the others.  A value that is out of
 * range counts as the nearest one that is in range.
 */
struct sley_domain_terms {
	/*
	 * SLEY_PRIORITY_MIN to SLEY_PRIORITY_MAX: work of the member that is more urgent
	 * counts as this, for all members.  In the member itself the order is as ever.
	 * Default: SLEY_PRIORITY_MIN, all counts.
	 */
	int32_t most_urgent;
	/*
	 * 1 to SLEY_DOMAIN_SHARE_MAX: of members with equally urgent work, one with twice
	 * the share of another gets twice the time of cores.
	 */
	uint32_t share;
	/* For .share_by_user: which members are one user.  Default: .uid of the peer. */
	uint32_t user;
	uint32_t reserved;
};

/* Zero means the default in every field. */
struct sley_domain_host_options {
	uint32_t size; /* of this struct; SLEY_DOMAIN_HOST_OPTIONS sets it  */
	uint32_t mode; /* rights of the socket's file; default: 0600        */
	/* The domain, as for sley_domain_join(). */
	const char *name;
	/* How many cores it has; default: as many CPUs as the caller may use. */
	uint32_t nr_cores;
	uint32_t ends_alone; /* 1: the host ends with its last member        */
	/*
	 * May this process join, and look?  Called on the thread of the host, so it
	 * must not wait.  Default: root, and the user of this process.
	 */
	bool (*may_join)(void *self, const struct sley_domain_peer *peer);
	/* Gets a line when a member is refused or thrown out; default: stderr. */
	void (*report)(void *self, const char *line);
	void *self; /* for all callbacks                                     */
	/*
	 * A want counts as one priority more urgent for each such time, from .most_urgent
	 * of its member on; 0: never.
	 */
	uint64_t age_ns;
	/*
	 * Changes what the work of this member counts for: *@terms has the defaults.
	 * Called when it joins, and by sley_domain_host_refresh(), as .may_join is.
	 */
	void (*terms)(void *self, const struct sley_domain_peer *peer,
		      struct sley_domain_terms *terms);
	/*
	 * 1: the members of one user that have work divide the share of one among them, so
	 * that a user does not get more by more processes.
	 */
	uint32_t share_by_user;
	uint32_t padding;
	uint64_t reserved[6];
};

#define SLEY_DOMAIN_HOST_OPTIONS(...)                                          \
	SLEY_LITERAL(struct sley_domain_host_options, __VA_ARGS__)

/*
 * sley_domain_host_create - host a domain, in a thread of this process.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller ends the host with sley_domain_host_destroy(); @options is copied,
 *           .self is borrowed until then.
 * Errors:   -EADDRINUSE  the domain has a host
 *           -EPERM       other users may write to the folder of the socket
 *           -EEXIST      there is a file of that name which is no socket
 *           -ENOENT      there is no $XDG_RUNTIME_DIR, or no folder above that of the
 *                        socket
 *           -EINVAL      options->size is zero; .name is no name; or .nr_cores is above
 *                        SLEY_DOMAIN_CORES_MAX
 *           -EOPNOTSUPP  the kernel has no memory that one process alone can write to
 *                        (Linux 5.1)
 *           -E2BIG       a newer field is set
 *           -ENAMETOOLONG, -EACCES, -EAGAIN, -EMFILE, -ENFILE, -ENOMEM
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_domain_host_create(struct sley_domain_host **host,
			const struct sley_domain_host_options *options);

/*
 * sley_domain_host_stop - ask a host to end.
 *
 * Context:  any thread
 * Blocks:   never; sley_domain_host_wait() waits for the end
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_domain_host_stop(struct sley_domain_host *host);

/*
 * sley_domain_host_refresh - ask .terms again for each member that is there.
 *
 * What it says counts within some milliseconds.  Members that .may_join would not let in any
 * more stay until they leave.
 *
 * Context:  any thread
 * Blocks:   never: the thread of the host asks
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_domain_host_refresh(struct sley_domain_host *host);

/*
 * sley_domain_host_wait - wait until a host has ended.
 *
 * A host with .ends_alone ends with its last member, or if nobody joins for 10 s after it
 * was created; all others when they are asked to.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_domain_host_wait(struct sley_domain_host *host);

/*
 * sley_domain_host_destroy - end a host.
 *
 * Its members go on alone.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   the thread, until the thread of the host has ended
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_THREAD void
sley_domain_host_destroy(struct sley_domain_host *host);

SLEY_END_DECLS
#endif
