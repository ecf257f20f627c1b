#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stale - no address of a thread-local is kept over a switch (x86-64).

  stale.py LIBRARY...                  libsley.so, libsley.a
  stale.py --self-test CC SOURCE       such code is found, and other code is not

After a switch a fiber may be on another thread, and compilers believe that the
address of a thread-local, errno among them, is a constant of the function.  So
the disassembly of each function is followed along all of its paths: what was
made of %fs:0 or returned by __errno_location() or __tls_get_addr() is an
address of this thread.  It becomes stale when a switch, or a call of something
that may switch, is passed, and it must not be used then: neither followed nor
handed on.

May switch: what has the switch of arch/x86_64/ctx_switch.h in it, what calls such
a function, and every call through a pointer, since users' functions may block.

A jump through a pointer is either the last call of a function, and then nothing
of it is left, or one through the table of a switch statement, and then it goes
on anywhere in it.  To find its way in a table there is an addition, or an index
with a scale; an address that was only loaded, or came with the caller, is that
of a function.  What may be both is taken for both.

Not seen: an address that is kept in memory other than the frame.
"""
import re
import subprocess
import sys
import tempfile

FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
LINE = re.compile(r"^ *([0-9a-f]+):\t(?:(?:lock|rep\w*|notrack|bnd|data16|cs) )*"
                  r"(\w+)\s*(.*)$")
TARGET = re.compile(r"^([0-9a-f]+) <([^+>]+)(?:\+0x[0-9a-f]+)?>")
SLOT = re.compile(r"^-?(?:0x[0-9a-f]+)?\(%r[sb]p\)$")
FAMILY = {}
for letter in "abcd":
    for name in (f"r{letter}x", f"e{letter}x", f"{letter}x", f"{letter}l",
                 f"{letter}h"):
        FAMILY[name] = f"r{letter}x"
for word in ("si", "di", "sp", "bp"):
    for name in (f"r{word}", f"e{word}", word, f"{word}l"):
        FAMILY[name] = f"r{word}"
for number in range(8, 16):
    for suffix in ("", "d", "w", "b"):
        FAMILY[f"r{number}{suffix}"] = f"r{number}"
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
CALLER_SAVED = set(ARGUMENTS) | {"rax", "r10", "r11"}
SOURCES = ("__errno_location", "__tls_get_addr")
READ_ONLY = ("cmp", "test", "push", "bt", "ucomis", "comis", "prefetch", "nop")
MOVES = ("mov", "cmov")
FRESH, STALE = "fresh", "stale"
SCALED = re.compile(r"\([^)]*,[^)]*,[248]\)")

# Whose calls through pointers lead to nothing that could block: a handler of
# signals, functions of os/ that call their own, the look of a sleeper at its lock,
# and the plans of a fault sweep.
PLAIN = {"fault_handler", "fault_reached", "fault_lock_reached", "quota_up",
         "os_topo_quota", "os_nr_usable_cpus", "put_shared", "os_cpu_distance_read",
         "spin_sleep"}


class Instruction:
    def __init__(self, address, mnemonic, text):
        self.address, self.mnemonic = address, mnemonic
        self.text = re.sub(r"\s+#.*$", "", text)
        self.operands = re.findall(r"(?:[^,(]|\([^)]*\))+", self.text)
        self.is_switch = (mnemonic.startswith("jmp")
                          and self.text == "*0x10(%rdx)")
        found = TARGET.match(self.text)
        self.target = found and (int(found[1], 16), found[2].split("@")[0])
        self.may_stay = self.may_leave = False  # a jump through a pointer

    def calls_pointer(self):
        return self.may_leave or (self.mnemonic == "call" and not self.target)


def disassemble(path):
    """name -> instructions; a name that comes again gets a number."""
    done = subprocess.run(["objdump", "-d", "-r", "--no-show-raw-insn", path],
                          text=True, check=True, stdout=subprocess.PIPE)
    functions, body = {}, None
    for line in done.stdout.splitlines():
        found = FUNCTION.match(line)
        if found:
            name = found[1]
            while name in functions:
                name += "'"
            body = functions[name] = []
            continue
        found = LINE.match(line)
        if found and body is not None:
            body.append(Instruction(int(found[1], 16), found[2],
                                    found[3].strip()))
        elif body and (found := re.search(r"R_X86_64_\w+\s+([\w.]+)", line)):
            # An object: the relocation says what is called.
            if body[-1].mnemonic in ("call", "jmp"):
                body[-1].target = (0, found[1])
    for body in functions.values():
        forget_the_way(body)
        sort_jumps(body)
    return functions


def forget_the_way(body):
    """The switch loads rsp and rbp of the other side; ours come back."""
    for n, i in enumerate(body):
        if i.is_switch:
            for before in body[max(n - 2, 0):n]:
                before.mnemonic, before.operands = "nop", []


def sort_jumps(body):
    """Which jumps through a pointer may stay in the function, or leave it."""
    for n, i in enumerate(body):
        if i.mnemonic != "jmp" or i.target or i.is_switch:
            continue
        register = place(i.text[1:])
        makers = makers_of(body, n, register) if register else [i]
        i.may_stay = not makers or any(
            m and (SCALED.search(m.text) or not m.mnemonic.startswith(
                (*MOVES, "call", "jmp"))) for m in makers)
        i.may_leave = not makers or any(
            not m or m.mnemonic != "add" for m in makers)


def makers_of(body, n, register):
    """What may have made the value of @register at @n; None: the caller."""
    ways = ways_to(body)
    work, seen, makers = [], set(), []

    def look_before(n, register):
        work.extend((m, register) for m in ways[n])
        if n == 0:
            makers.append(None)

    look_before(n, register)
    while work:
        n, register = work.pop()
        if (n, register) in seen:
            continue
        seen.add((n, register))
        i = body[n]
        is_read = i.mnemonic.startswith((*READ_ONLY, "j"))
        to = place(i.operands[-1]) if i.operands and not is_read else None
        if i.mnemonic == "call" and register in CALLER_SAVED:
            makers.append(i)
        elif to != register:
            look_before(n, register)
        else:
            came = place(i.operands[0])
            if i.mnemonic.startswith(MOVES) and came in FAMILY:
                look_before(n, came)
            else:
                makers.append(i)
            if i.mnemonic.startswith("cmov"):
                look_before(n, register)
    return makers


def ways_to(body):
    """For each instruction those before it, as far as they can be known."""
    at = {i.address: n for n, i in enumerate(body)}
    ways = [[] for _ in body]
    for n, i in enumerate(body):
        if i.mnemonic.startswith("j") and i.target and i.target[0] in at:
            ways[at[i.target[0]]].append(n)
        if n + 1 < len(body) and (
                i.is_switch or i.mnemonic not in ("jmp", "ret", "ud2", "hlt")):
            ways[n + 1].append(n)
    return ways


def may_switch(functions):
    """Names of functions that may come back on another thread."""
    result = {name for name, body in functions.items()
              if any(i.is_switch or (i.calls_pointer() and name not in PLAIN)
                     for i in body)}
    grown = True
    while grown:
        grown = False
        for name, body in functions.items():
            if name not in result and any(
                    i.target and i.target[1] in result and i.target[1] != name
                    and i.mnemonic in ("call", "jmp") for i in body):
                result.add(name)
                grown = True
    return result


def registers(text):
    return {FAMILY[r] for r in re.findall(r"%(\w+)", text) if r in FAMILY}


def place(operand):
    """The register or stack slot an operand names, or None."""
    operand = operand.strip()
    if operand.startswith("%"):
        return FAMILY.get(operand[1:])
    return operand if SLOT.match(operand) else None


class Follower:
    def __init__(self, name, body, switching, complaints):
        self.name, self.body = name, body
        self.switching, self.complaints = switching, complaints
        self.at = {i.address: n for n, i in enumerate(body)}

    def complain(self, instruction, what):
        self.complaints.add((self.name, instruction.address,
                             f"{instruction.mnemonic} {instruction.text}",
                             what))

    def pass_switch(self, state):
        return {where: STALE for where in state}

    def step(self, i, state):
        """The state behind @i; reports what is used stale."""
        memory = re.findall(r"\([^)]*\)", i.text)
        if i.mnemonic not in ("lea", "nop") and any(
                state.get(r) == STALE for m in memory for r in registers(m)):
            self.complain(i, "follows an address of another thread")
        if i.is_switch:
            kept = {w: s for w, s in state.items()
                    if w == "rbp" or w not in FAMILY}
            return self.pass_switch(kept)
        if i.may_leave:
            self.step_call(i, state)
            return state if i.may_stay else {}
        if i.mnemonic == "call" or (i.mnemonic == "jmp" and i.target
                                    and i.target[0] not in self.at):
            return self.step_call(i, state)
        return self.step_move(i, state)

    def step_call(self, i, state):
        if any(state.get(r) == STALE for r in ARGUMENTS):
            self.complain(i, "hands on an address of another thread")
        state = {w: s for w, s in state.items() if w not in CALLER_SAVED}
        if i.target and i.target[1] in self.switching:
            state = self.pass_switch(state)
        elif not i.target and self.name not in PLAIN:
            state = self.pass_switch(state)
        elif i.target and i.target[1] in SOURCES:
            state["rax"] = FRESH
        return state

    def step_move(self, i, state):
        if not i.operands or i.mnemonic.startswith(READ_ONLY):
            return state
        to = place(i.operands[-1])
        if not to or i.mnemonic.startswith("j"):
            return state
        value = None
        if i.operands[0] == "%fs:0x0":
            value = FRESH
        elif i.mnemonic in ("mov", "movq"):
            value = state.get(place(i.operands[0]))
        elif i.mnemonic == "lea":
            value = next((state[r] for r in registers(i.operands[0])
                          if r in state), None)
        elif i.mnemonic in ("add", "sub"):
            value = state.get(to) or state.get(place(i.operands[0]))
        elif to not in FAMILY:
            value = state.get(to)
        state = dict(state)
        state.pop(to, None)
        if value:
            state[to] = value
        return state

    def successors(self, n):
        i = self.body[n]
        following = [n + 1] if n + 1 < len(self.body) else []
        if i.is_switch or not (i.mnemonic.startswith("j")
                               or i.mnemonic in ("ret", "ud2", "hlt")):
            return following
        if not i.mnemonic.startswith("j"):
            return []
        if i.target and i.target[0] in self.at:
            there = [self.at[i.target[0]]]
            return there if i.mnemonic == "jmp" else there + following
        if i.mnemonic == "jmp":
            # Through a table: anywhere that is jumped to.
            return list(range(len(self.body))) if i.may_stay else []
        return following

    def run(self):
        states = {0: {}}
        work = [0]
        while work:
            n = work.pop()
            after = self.step(self.body[n], states[n])
            for m in self.successors(n):
                old = states.get(m)
                new = dict(old or {})
                for where, value in after.items():
                    if new.get(where) != STALE:
                        new[where] = value
                if old is None or new != old:
                    states[m] = new
                    work.append(m)


def check(path):
    """Complaints about @path; and how much there was to look at."""
    functions = disassemble(path)
    switching = may_switch(functions)
    complaints = set()
    for name, body in functions.items():
        if body:
            Follower(name, body, switching, complaints).run()
    nr = sum(i.is_switch for body in functions.values() for i in body)
    return sorted(complaints), len(functions), nr


SELF_TEST = r"""
#include "arch/ctx.h"
#include <errno.h>

extern struct ctx from, to;
extern _Thread_local int mine __attribute__((tls_model("initial-exec")));
void use(int *);
void other(void);

/* bad: the address is looked up once */
__attribute__((noinline)) void bad_errno(void)
{
	errno = 1;
	ctx_switch(&from, &to, 0);
	errno = 2;
}
void bad_pointer(void)
{
	int *volatile *p, *q = &mine;

	use(q);
	ctx_switch(&from, &to, 0);
	use(q);
	(void)p;
}
void bad_after_call(void)
{
	errno = 1;
	bad_errno();
	errno = 2;
}
void bad_callback(void (*fn)(void))
{
	errno = 1;
	fn();
	errno = 2;
}
__attribute__((noinline)) void good_last_call(void (*fn)(void))
{
	fn();
}
void bad_after_last_call(void (*fn)(void))
{
	errno = 1;
	good_last_call(fn);
	errno = 2;
}
void bad_last_call(void (*fn)(int *))
{
	int *q = &mine;

	use(q);
	ctx_switch(&from, &to, 0);
	fn(q);
}
/* as compilers write a switch statement */
asm(".text; .globl bad_table; bad_table:;"
    "push %rbx; mov %fs:0, %rbx; lea 1f(%rip), %rdx;"
    "movslq (%rdx, %rdi, 4), %rax; add %rdx, %rax; jmp *%rax;"
    "2: call bad_errno; movq $0, (%rbx); pop %rbx; ret;"
    ".section .rodata; 1: .long 2b - 1b; .text");
/* good: the jump leaves it, and does not come by the store */
asm(".text; .globl good_jump; good_jump:;"
    "push %rbx; mov %fs:0, %rcx; mov (%rcx), %rbx; test %rbx, %rbx; je 1f;"
    "mov (%rbx), %rcx; mov %rcx, %rbx; call bad_errno; movq $0, (%rbx);"
    "1: mov (%rdi), %rax; pop %rbx; jmp *%rax");
/* good: before or after, or over what does not switch */
void good_before(void)
{
	errno = 1;
	ctx_switch(&from, &to, 0);
}
void good_after(void)
{
	ctx_switch(&from, &to, 0);
	errno = 2;
}
void good_direct(void)
{
	mine = 1;
	ctx_switch(&from, &to, 0);
	mine = 2;
}
void good_call(void)
{
	errno = 1;
	other();
	errno = 2;
}
"""


def self_test(compiler, source):
    failed = False
    for level in ("-O1", "-O2", "-O3"):
        with tempfile.TemporaryDirectory() as work:
            with open(f"{work}/t.c", "w", encoding="utf-8") as file:
                file.write(SELF_TEST)
            subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", level,
                            "-fPIC", "-w", f"-I{source}/src",
                            f"-I{source}/include", "-c", f"{work}/t.c", "-o",
                            f"{work}/t.o"], check=True)
            complaints, _, nr = check(f"{work}/t.o")
        seen = {name for name, *_ in complaints}
        wanted = set(re.findall(r"bad_\w+", SELF_TEST))
        right = seen == wanted and nr == 6
        failed |= not right
        print("ok  " if right else "FAIL", level, sorted(seen), nr, "switches")
    return failed


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--self-test":
        return self_test(*sys.argv[2:])
    failed = False
    for path in sys.argv[1:]:
        complaints, nr_functions, nr_switches = check(path)
        for name, address, text, what in complaints:
            print(f"{path}: {name}+{address:x}: {text}: {what}")
        failed |= bool(complaints) or not nr_switches
        print(f"{path}: {nr_functions} functions, {nr_switches} switches, "
              f"{len(complaints)} complaints")
    return failed or len(sys.argv) < 2


if __name__ == "__main__":
    sys.exit(main())
