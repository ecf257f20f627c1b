/* SPDX-License-Identifier: MIT */
/*
 * said.h - a configuration file from a text, and what was said about it.
 */
#ifndef SLEY_TESTS_CONFORMANCE_CONFIG_SAID_H
#define SLEY_TESTS_CONFORMANCE_CONFIG_SAID_H

#include "conformance/bound.h"

#include <sley/config_file.h>
#include <stdio.h>

/* What the tests are called with is no matter. */
__attribute__((constructor)) static void forget_environment(void)
{
	unsetenv("SLEY_CONFIG");
	unsetenv("SLEY_IO");
	unsetenv("SLEY_TRACE");
}

struct said {
	char text[16384];
	size_t length;
	int nr; /* lines */
};

static inline void said_line(void *self, const char *line)
{
	struct said *said = self;

	said->nr++;
	said->length += (size_t)snprintf(said->text + said->length,
					 sizeof(said->text) - said->length,
					 "%s\n", line);
	CHECK_LT(said->length, sizeof(said->text));
}

static inline struct sley_config_file_options options_of(struct said *said)
{
	return (struct sley_config_file_options){
		.size = sizeof(struct sley_config_file_options),
		.report = said_line,
		.report_self = said,
	};
}

/* The file is called "t". */
static inline int parse(struct sley_config_file **file, const char *text,
			struct said *said)
{
	const struct sley_config_file_options options = options_of(said);

	*said = (struct said){ .nr = 0 };
	return sley_config_file_parse(file, "t", text, strlen(text), &options);
}

/* A file that must be good, and about which nothing is said. */
static inline struct sley_config_file *parse_good(const char *text)
{
	static struct said said;
	struct sley_config_file *file = NULL;
	int err = parse(&file, text, &said);

	CHECK_STR(said.text, "");
	CHECK_EQ(err, 0);
	return file;
}

/* The value of "runtime.num_threads" and the like. */
static inline const struct sley_config_value *
value_of(const struct sley_config_file *file, const char *key)
{
	const struct sley_config_value *value = NULL;

	for (size_t i = 0; (value = sley_config_file_value(file, i)); i++) {
		if (!strcmp(value->key, key))
			return value;
	}
	CHECK(value != NULL);
	return value;
}

/* A file of our own with these bytes; @path gets its name, 64 bytes. */
static inline void write_file(char *path, const char *text, size_t size)
{
	int fd;

	snprintf(path, 64, "/tmp/sley-config.XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, size), size);
	CHECK_EQ(close(fd), 0);
}

#endif
