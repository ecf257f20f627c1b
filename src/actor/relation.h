/* SPDX-License-Identifier: MIT */
/*
 * relation.h - links and monitors.
 */
#ifndef SLEY_ACTOR_RELATION_H
#define SLEY_ACTOR_RELATION_H

#include "actor/process.h"

/*
 * Step 2 of process_end(), under the lock: @process has none any more.  Returns
 * what it had, for relations_tell(); NULL: nothing.
 */
struct relations *relations_take(struct process *process);

/* Step 5: tell everybody of the end of @pid, and free @relations. */
void relations_tell(struct relations *relations, sley_pid pid, int reason);

/*
 * @process has taken a SLEY_EXIT or SLEY_DOWN out of its inbox.  False: it does not
 * concern it (any more), and was freed.
 */
must_check bool relation_arrived(struct process *process, struct sley_msg *msg);

/* Free @msg, of storage MAIL_RELATION, delivered or not. */
void relation_free(struct sley_msg *msg);

/*
 * Between @process, which is not running yet and which nobody knows, and the
 * calling process: .link and .monitor of the options.  0 or -ENOMEM.
 */
must_check int relation_link_new(struct process *process);
must_check int relation_monitor_new(struct process *process, uint64_t *number);

/* For sley_process_inspect(), with @process locked. */
void relations_count(const struct process *process, uint32_t *links,
		     uint32_t *monitors);

#endif
