#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""supervise - run a command, and let nothing outlive it.

    supervise.py COMMAND...

The command has a session of its own.  The supervisor adopts each descendant whose
parent has ended (PR_SET_CHILD_SUBREAPER), so a descendant cannot get away with a process
group or a session of its own.  When the command has ended, the rest is killed, and the
supervisor ends as the command did: with its status or by its signal.

The standard input of the supervisor is a pipe from the tool that started it.  The end of
that input, which is also the end of the tool, however it came, is the order to kill all.

It is a program, since the kernel gives the orphans of a process to the next subreaper
above it: a tool with several trials at a time could not tell whose orphans it has.
"""
import ctypes
import os
import resource
import select
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36
# The first two by Python.  The others may be sent to the group of the tool: then the tool
# ends, and with it our input.
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT,
           signal.SIGQUIT, signal.SIGTERM)


def adopt_orphans():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("supervise: prctl: " + os.strerror(ctypes.get_errno()))


def start(command):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for signo in IGNORED:
            signal.signal(signo, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"supervise: {command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def ended_children():
    """Reaped here: a program may wait for a process to be gone that we adopted."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, status


def wait(command):
    """The status of the command; None: the tool wants no more of it."""
    ended, wake = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid = start(command)
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        for child, status in ended_children():
            if child == pid:
                return status
        ready = [fd for fd, _ in poll.poll()]
        if ended in ready:
            os.read(ended, 4096)
        if 0 in ready and not os.read(0, 4096):
            return None


def children():
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = file.read().rpartition(b")")[2].split()[1]
        except OSError:
            continue  # it has ended
        if int(parent) == os.getpid():
            yield int(name)


def kill_all():
    """A child that is killed leaves its own children to us: until there is none."""
    while True:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def end_like(status):
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.WTERMSIG(status) in IGNORED:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def main():
    for signo in IGNORED:
        signal.signal(signo, signal.SIG_IGN)
    adopt_orphans()
    status = wait(sys.argv[1:])
    kill_all()
    end_like(status or 0)


if __name__ == "__main__":
    main()
