/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - what the processor offers beyond C.
 *
 * cpu_cycles() is for time stamps: it runs at a constant rate and is the same
 * on all cores of the machines we know, but is not ordered against the
 * instructions around it.
 */
#ifndef SLEY_ARCH_CPU_H
#define SLEY_ARCH_CPU_H

#include <stdint.h>

#if defined(__x86_64__)

static inline uint64_t cpu_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void cpu_pause(void)
{
	__builtin_ia32_pause();
}

#elif defined(__aarch64__)

static inline uint64_t cpu_cycles(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline void cpu_pause(void)
{
	__asm__ volatile("yield");
}

#else
#error "cpu.h: add the cycle counter of this architecture"
#endif

#endif
