/* SPDX-License-Identifier: MIT */
/*
 * text.c - see text.h.
 */
#include "os/text.h"

#include "os/fault.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_file(const char *path, char *text, size_t size)
{
	size_t length = 0;
	ssize_t nr = 0;
	int fd = fault_errno("open", ENOENT, EMFILE, EACCES)
			 ? -1
			 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (length < size - 1) {
		nr = fault_errno("read", EIO, EINTR)
			     ? -1
			     : read(fd, text + length, size - 1 - length);
		if (nr == 0 || (nr < 0 && errno != EINTR))
			break;
		length += nr > 0 ? (size_t)nr : 0;
	}
	close(fd);
	text[length] = '\0';
	return nr >= 0;
}

bool os_text_read(char *text, size_t size, const char *format, ...)
{
	char path[OS_PATH_SIZE];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return length >= 0 && length < (int)sizeof(path) &&
	       read_file(path, text, size);
}

bool os_text_number(const char **text, uint64_t *out)
{
	char *end;

	while (**text == ' ' || **text == '\t')
		(*text)++;
	if (!isdigit((unsigned char)**text)) /* strtoull would take a sign */
		return false;
	errno = 0;
	*out = strtoull(*text, &end, 10);
	if (errno)
		return false;
	*text = end;
	return true;
}
