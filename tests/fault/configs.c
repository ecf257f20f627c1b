/* SPDX-License-Identifier: MIT */
/*
 * configs.c - configuration files: what cannot be read, or has no memory, is an error.
 *
 * The allocations of libyaml are no sites: tests/conformance/config/config_memory.c lets
 * them fail.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <sley/config_file.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "runtime:\n"
			   "  num_threads: 1\n"
			   "  cpus: [ 0, '1-3' ]\n"
			   "  directories: [ /a, /b ]\n"
			   "compose:\n"
			   "  - mod_name: a\n"
			   "    pool_name: b\n"
			   "    params: { x: 1, y: [ 1, 2 ] }\n";

static void write_file(char *path)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	CHECK_EQ(close(fd), 0);
}

SCENARIO(configuration_files)
{
	struct sley_config_file *file = NULL;
	char path[] = "/tmp/sley-fault.XXXXXX";

	write_file(path);
	trial_mark();
	if (TRY(sley_config_file_load(
			&file, path,
			SLEY_CONFIG_FILE_OPTIONS(.report = trial_note_report)),
		-ENOMEM, -EACCES, -EMFILE, -EIO)) {
		CHECK_EQ(sley_config_file_runtime(file)->workers, 1);
		CHECK(sley_config_file_pool(file, 0) != NULL);
		sley_config_file_free(file);
	}
	CHECK_EQ(unlink(path), 0);
}
