/* SPDX-License-Identifier: MIT */
/*
 * ctx.S - the first frame of every fiber.
 *
 * ctx_init() left entry and arg on the new stack; the switch left pass in x1.
 * The return address is undefined on purpose: gdb, backtrace() and the C++
 * unwinder see the end of the stack here and do not walk off it.
 */
#if defined(__aarch64__) && defined(__LP64__) && !defined(SLEY_PORTABLE_CTX)

	.text
	.globl	sley__ctx_start
	.hidden	sley__ctx_start
	.type	sley__ctx_start, %function
	.p2align 4
sley__ctx_start:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_undefined x30
	hint	#36			/* bti j: a switch branches here      */
	ldp	x9, x0, [sp], #16	/* entry, arg; pass is in x1 already  */
	.cfi_def_cfa_offset 0
	blr	x9			/* sp is a multiple of 16 here        */
	brk	#1			/* entry must not return              */
	.cfi_endproc
	.size	sley__ctx_start, . - sley__ctx_start

/*
 * Branch target identification: yes.  Signed return addresses: yes, nothing
 * returns here.  Guarded control stacks: no, the switch does not know them, and
 * one object without the mark keeps the loader from turning them on.
 */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.long	4			/* size of the name                   */
	.long	16			/* size of the description            */
	.long	5			/* NT_GNU_PROPERTY_TYPE_0             */
	.asciz	"GNU"
	.long	0xc0000000		/* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
	.long	4
	.long	3			/* _BTI and _PAC                      */
	.long	0

#endif
	.section .note.GNU-stack, "", %progbits
