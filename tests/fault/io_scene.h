/* SPDX-License-Identifier: MIT */
/*
 * io_scene.h - what the scenarios of descriptors share.
 */
#ifndef SLEY_TESTS_FAULT_IO_SCENE_H
#define SLEY_TESTS_FAULT_IO_SCENE_H

#include "fault/sweep.h"

/* There is no way to wait for a descriptor. */
#define NO_WAIT -EMFILE, -ENFILE, -ENOMEM, -ENOSPC, -EAGAIN

/*
 * For a wait that must end: soon where the peer may have given up.
 */
uint64_t in_time(void);

/* A busy machine is no failure: as long as no call has failed, the wait goes on. */
#define PATIENT(call)                                                          \
	__extension__({                                                        \
		int patient_;                                                  \
		do                                                             \
			patient_ = (int)(call);                                \
		while (patient_ == -ETIMEDOUT && !trial_struck());             \
		patient_;                                                      \
	})

/* The descriptor is closed in any case: there is no second try. */
void close_it(int fd);
void close_both(const int *fd);

/* A socket pair. */
void open_sockets(int *fd);

#endif
