/* SPDX-License-Identifier: MIT */
/*
 * secret.c - see secret.h.
 *
 * The first caller makes the secret.  Several first callers make the same secret, from
 * the same bytes, so it does not matter which of them stores it.
 *
 * Edges:
 *
 *   SE1  the maker stores ready -> a caller loads ready : both words
 */
#include "os/secret.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/clock.h"

#include <sys/auxv.h>

static uint64_t word[2];
static uint32_t ready;

static struct sip_key make(void)
{
	unsigned long address = getauxval(AT_RANDOM);
	struct sip_key given, made;

	if (address)
		memcpy(&given, (const void *)address, sizeof(given));
	else /* no kernel of this century */
		given = (struct sip_key){ { os_now(), (uintptr_t)&given } };
	made.word[0] = sip_hash_with(&given, "first", 5, 2, 4);
	made.word[1] = sip_hash_with(&given, "second", 6, 2, 4);
	return made;
}

struct sip_key os_secret(void)
{
	if (unlikely(!load_acquire(&ready))) { /* SE1 */
		struct sip_key made = make();

		/* relaxed: SE1 publishes it; another maker stores the same. */
		store_relaxed(&word[0], made.word[0]);
		/* relaxed: the same. */
		store_relaxed(&word[1], made.word[1]);
		store_release(&ready, 1); /* SE1 */
	}
	/* relaxed: after SE1. */
	return (struct sip_key){ { load_relaxed(&word[0]),
				   /* relaxed: the same. */
				   load_relaxed(&word[1]) } };
}
