/* SPDX-License-Identifier: MIT */
/*
 * 25_step_process.c - a state machine that gives commands to handlers.
 *
 *   cc 25_step_process.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

enum { READ, WRITE }; /* commands, and also the tags */

/* Completes at once; another thread could complete the command an hour later. */
static int read_line(const struct sley_command *command, void *arg)
{
	static const char *const lines[] = { "warp", "weft", "sley", "" };
	const char *line = lines[(*(int *)arg)++];

	return sley_command_complete(command->pid, command->tag, line,
				     strlen(line));
}

static int write_line(const struct sley_command *command, void *arg)
{
	printf("%d: %s\n", ++*(int *)arg, (const char *)command->payload);
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

/* Between two steps there is no stack: the state is the 32 bytes of @self. */
static enum sley_step copy(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	if (!nr || msg[0]->tag == WRITE) {
		sley_out_yield(out, READ, READ, NULL);
		return SLEY_WAIT;
	}
	if (!msg[0]->size)
		return sley_out_done(out, 0);
	snprintf(self, 32, "%.*s", (int)msg[0]->size, (char *)msg[0]->data);
	sley_out_yield(out, WRITE, WRITE, self);
	return SLEY_WAIT;
}

static void root(void *arg)
{
	static const struct sley_behaviour b = { .size = 32, .step = copy };

	*(int *)arg = sley_process_spawn(NULL, &b, NULL, 0, NULL);
	while (sley_process_count())
		sley_yield();
}

int main(void)
{
	int err, nr_read = 0, nr_written = 0;

	return sley_command_handle(READ, read_line, &nr_read, NULL) ||
	       sley_command_handle(WRITE, write_line, &nr_written, NULL) ||
	       sley_run(NULL, root, &err) || err || nr_written != 3;
}
