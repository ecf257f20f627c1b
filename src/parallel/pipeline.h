/* SPDX-License-Identifier: MIT */
/*
 * pipeline.h - what pipeline.c checks for feed.c, which starts a pipeline later.
 */
#ifndef SLEY_PARALLEL_PIPELINE_H
#define SLEY_PARALLEL_PIPELINE_H

#include "base/compiler.h"

#include <sley/pipeline.h>

/* Has the stage a function and a valid mode? */
must_check bool pipeline_stage_is_sound(const struct sley_stage *stage);

#endif
