/* SPDX-License-Identifier: MIT */
/*
 * attempt.h - the attempts of a plain read, for callers that bring a call of their own.
 *
 * A reader that has no memory while it waits makes an attempt out of these: it borrows
 * memory, tries, and gives the memory back if there was nothing (stream/stream_fd.c).
 *
 * Rejected: a read in two halves, a wait and a try, with the loan in between (the reader
 * enters and leaves the descriptor twice, and looks at its side twice: 94 instructions
 * more for each request of a server, two of them locked).
 */
#ifndef SLEY_IO_ATTEMPT_H
#define SLEY_IO_ATTEMPT_H

#include "io/call.h"

/* ->size bytes into ->data, of anything but a file: ->attempt of a read. */
must_check ssize_t io_attempt_read(struct io_call *call);

/* The same of a file: ->on_file of a read. */
must_check ssize_t io_attempt_read_file(struct io_call *call);

#endif
