/* SPDX-License-Identifier: MIT */
/*
 * serve_files.h - sley serve: the files of a folder, for strangers.
 *
 * A path is opened by openat2(2) with RESOLVE_BENEATH: the kernel refuses what leads
 * out of the folder, by "..", by an absolute name or by a symbolic link.  There is no
 * check of ours that a change of the folder could outrun.
 */
#ifndef SLEY_PROGRAM_SERVE_FILES_H
#define SLEY_PROGRAM_SERVE_FILES_H

#include <sley/http.h>
#include <stdbool.h>

struct serve_files {
	int folder;     /* a descriptor                                */
	bool lists;     /* folders without an index.html are listed    */
	bool dot_files; /* names that begin with a dot are served, too */
};

/* 0, or -errno: -ENOSYS where the kernel has no openat2(2). */
int serve_files_open(struct serve_files *files, const char *folder);

/* The handler of the server; @files is a struct serve_files. */
int serve_files_answer(struct sley_http_request *request,
		       struct sley_http_response *response, void *files);

/* Below the folder: a descriptor, or -errno. */
int serve_files_beneath(int folder, const char *path, int flags);

/* serve_list.c: answer with the names in @folder, a descriptor. */
int serve_list(struct sley_http_response *response, int folder,
	       const char *path, bool dot_files);

#endif
