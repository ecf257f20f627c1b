/* SPDX-License-Identifier: MIT */
/*
 * file_answer.c - see file_answer.h.
 */
#include "http/message/file_answer.h"

#include "http/message/date.h"

#include <stdio.h>
#include <string.h>

void http_file_init(struct http_file *file, uint64_t size,
		    struct timespec changed)
{
	file->size = size;
	file->changed = changed;
	snprintf(file->tag, sizeof(file->tag), "\"%llx-%lx-%llx\"",
		 (unsigned long long)changed.tv_sec, changed.tv_nsec,
		 (unsigned long long)size);
}

struct value {
	const char *at, *end; /* .at NULL: there is no such field */
};

static struct value find(const struct http_head *head, const char *buffer,
			 const char *lower)
{
	const struct http_field *field = http_head_find(head, buffer, lower, 0);

	if (!field)
		return (struct value){ NULL, NULL };
	return (struct value){ buffer + field->value.at,
			       buffer + field->value.at + field->value.size };
}

/*
 * Is our tag in a list of tags?  "*" stands for any.  A weak tag is as good as ours
 * where @weak is set.
 */
static bool lists_tag(const struct http_file *file, struct value list,
		      bool weak)
{
	size_t size = strlen(file->tag);
	const char *at = list.at;

	if (list.end - at == 1 && *at == '*')
		return true;
	while (at < list.end) {
		bool is_weak = list.end - at > 2 && memcmp(at, "W/", 2) == 0;
		const char *quote, *tag = at + (is_weak ? 2 : 0);

		if (*at == ' ' || *at == '\t' || *at == ',') {
			at++;
			continue;
		}
		if (*tag != '"')
			return false;
		quote = memchr(tag + 1, '"', (size_t)(list.end - tag - 1));
		if (!quote)
			return false;
		at = quote + 1;
		if ((size_t)(at - tag) == size &&
		    memcmp(tag, file->tag, size) == 0 && (weak || !is_weak))
			return true;
	}
	return false;
}

/* Was the file changed after the date?  @otherwise if it is no date. */
static bool changed_after(const struct http_file *file, struct value date,
			  bool otherwise)
{
	time_t time;

	if (!http_date_parse(date.at, (size_t)(date.end - date.at), &time))
		return otherwise;
	return file->changed.tv_sec > time;
}

/* 412, 304, or 0: no condition stands in the way. */
static int refusal(const struct http_file *file, const struct http_head *head,
		   const char *buffer)
{
	struct value value = find(head, buffer, "if-match");

	if (value.at) {
		if (!lists_tag(file, value, false))
			return 412;
	} else {
		value = find(head, buffer, "if-unmodified-since");
		if (value.at && changed_after(file, value, false))
			return 412;
	}
	value = find(head, buffer, "if-none-match");
	if (value.at)
		return lists_tag(file, value, true) ? 304 : 0;
	value = find(head, buffer, "if-modified-since");
	return value.at && !changed_after(file, value, true) ? 304 : 0;
}

/* Is a range of the file that the client has begun to load? */
static bool is_same_file(const struct http_file *file,
			 const struct http_head *head, const char *buffer)
{
	struct value value = find(head, buffer, "if-range");
	time_t time;

	if (!value.at)
		return true;
	if (http_date_parse(value.at, (size_t)(value.end - value.at), &time))
		return file->changed.tv_sec == time;
	return lists_tag(file, value, false) && *value.at == '"';
}

int http_file_status(const struct http_file *file, const struct http_head *head,
		     const char *buffer, struct http_range *part)
{
	const struct http_slice method = head->method;
	struct value value;
	size_t nr;
	int status = refusal(file, head, buffer);

	*part = (struct http_range){ 0, 0 };
	if (status)
		return status;
	value = find(head, buffer, "range");
	if (value.at && method.size == 3 &&
	    memcmp(buffer + method.at, "GET", 3) == 0 &&
	    is_same_file(file, head, buffer)) {
		switch (http_range_parse(value.at,
					 (size_t)(value.end - value.at),
					 file->size, part, 1, &nr)) {
		case HTTP_RANGE_PARTS:
			return 206;
		case HTTP_RANGE_UNSATISFIABLE:
			return 416;
		case HTTP_RANGE_WHOLE:
			break;
		}
	}
	*part = (struct http_range){ 0, file->size };
	return 200;
}
