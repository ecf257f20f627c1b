/* SPDX-License-Identifier: MIT */
/*
 * actor_blob.c - src/actor/mail/blob.c: the last reference frees the bytes, once,
 * when the holders of the other references are done.
 *
 * Each thread has a reference, and gives a second reference to a message, as
 * sley_send_blob() does; the message is received and freed.  Each thread writes a
 * byte before it drops its reference; the free must not race with this write.
 *
 * Complete for two threads with two references each.
 */
#include "model_mem.h"

#include "actor/mail/blob.h"

struct mem sley__program_mem;

static struct sley_blob *blob;

static void setup(void)
{
	blob = sley_blob_create(2);
	blob_get(blob);
	model_name(&blob->refs, "refs");
}

static void send_and_put(int id)
{
	unsigned char *bytes = sley_blob_data(blob);

	blob_get(blob);
	bytes[id] = 1;
	sley_blob_put(blob);
	bytes[id]++;
	sley_blob_put(blob);
}

MODEL(the_last_one_frees, .setup = setup,
      .threads = { send_and_put, send_and_put });
