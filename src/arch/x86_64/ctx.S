/* SPDX-License-Identifier: MIT */
/*
 * ctx.S - the first frame of every fiber.
 *
 * ctx_init() left entry and arg on the new stack; the switch left pass in rsi.
 * The return address is undefined on purpose: gdb, backtrace() and the C++
 * unwinder see the end of the stack here and do not walk off it.
 */
#if defined(__x86_64__) && defined(__LP64__) && !defined(SLEY_PORTABLE_CTX)

	.text
	.globl	sley__ctx_start
	.hidden	sley__ctx_start
	.type	sley__ctx_start, @function
	.p2align 4
sley__ctx_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	popq	%rax			/* entry                              */
	.cfi_adjust_cfa_offset -8
	popq	%rdi			/* arg; pass is in rsi already        */
	.cfi_adjust_cfa_offset -8
	call	*%rax			/* rsp is a multiple of 16 here       */
	ud2				/* entry must not return              */
	.cfi_endproc
	.size	sley__ctx_start, . - sley__ctx_start

/*
 * Indirect branch tracking: yes.  Shadow stacks: no, the switch does not know
 * them, and one object without the mark keeps the loader from turning them on.
 */
	.section .note.gnu.property, "a", @note
	.p2align 3
	.long	4			/* size of the name                   */
	.long	16			/* size of the description            */
	.long	5			/* NT_GNU_PROPERTY_TYPE_0             */
	.asciz	"GNU"
	.long	0xc0000002		/* GNU_PROPERTY_X86_FEATURE_1_AND     */
	.long	4
	.long	1			/* GNU_PROPERTY_X86_FEATURE_1_IBT     */
	.long	0

#endif
	.section .note.GNU-stack, "", @progbits
