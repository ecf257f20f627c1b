/* SPDX-License-Identifier: MIT */
/*
 * fpu.h - the floating-point control words: rounding, precision, traps.
 *
 * fpu_init() gives the words a program starts with, fpu_save() the words of the
 * running context; fpu_swap() saves and then loads others.  Loading is dear and
 * most contexts agree, so fpu_swap() compares first.  The sticky exception flags
 * are left alone: the ABI lets any call change the flags.
 */
#ifndef SLEY_ARCH_FPU_H
#define SLEY_ARCH_FPU_H

#include <stdint.h>

#if defined(__x86_64__)

#define FPU_MXCSR_FLAGS 0x3fu /* the sticky flags among the control bits */

/* What the ABI starts a program with: round to nearest, no traps. */
#define FPU_MXCSR_INIT 0x1f80u
#define FPU_X87_INIT 0x37fu

static inline void fpu_init(uint32_t words[2])
{
	words[0] = FPU_MXCSR_INIT;
	words[1] = FPU_X87_INIT;
}

/* Without a local in memory: fiber/sanitize.h says why. */
static inline void fpu_save(uint32_t words[2])
{
	words[1] = 0; /* fnstcw stores 16 bits */
	__asm__ volatile("stmxcsr %0" : "=m"(words[0]));
	__asm__ volatile("fnstcw %0" : "+m"(words[1]));
}

static inline void fpu_swap(uint32_t from[2], const uint32_t to[2])
{
	fpu_save(from);
	if ((from[0] ^ to[0]) & ~FPU_MXCSR_FLAGS) {
		uint32_t mxcsr = (to[0] & ~FPU_MXCSR_FLAGS) |
				 (from[0] & FPU_MXCSR_FLAGS);

		__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	}
	/* 16 bits: a wider load would have to wait for the store above. */
	if ((uint16_t)from[1] != (uint16_t)to[1]) {
		uint16_t x87 = (uint16_t)to[1];

		__asm__ volatile("fldcw %0" : : "m"(x87));
	}
}

#elif defined(__aarch64__)

static inline void fpu_init(uint32_t words[2])
{
	words[0] = 0;
	words[1] = 0;
}

static inline void fpu_save(uint32_t words[2])
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	words[0] = (uint32_t)fpcr;
	words[1] = 0;
}

static inline void fpu_swap(uint32_t from[2], const uint32_t to[2])
{
	uint64_t fpcr = to[0];

	fpu_save(from);
	if (from[0] != to[0])
		__asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
}

#else
#error "fpu.h: add the floating-point control words of this architecture"
#endif

#endif
