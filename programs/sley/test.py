#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test - the command line from outside: output, exit status, what it refuses."""
import argparse
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

failures = 0


def check(name, condition, detail=""):
    global failures
    print("ok  " if condition else "FAIL", name)
    if not condition:
        failures += 1
        print(detail)


def run(program, *words, **environment):
    return subprocess.run([program, *words], text=True, check=False,
                          encoding="utf-8", env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_limited(mib, *command):
    """With so much address space."""
    return run("prlimit", f"--as={mib << 20}", *command)


def run_on_terminal(program, *words, **environment):
    """What it prints if its output is a terminal."""
    leader, follower = pty.openpty()
    child = subprocess.Popen([program, *words], stdout=follower,
                             env=os.environ | environment)
    os.close(follower)
    output = b""
    try:
        while part := os.read(leader, 65536):
            output += part
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    child.wait()
    return output.decode()


def check_tour(program):
    done = run(program, "tour", LC_ALL="C.UTF-8")
    lines = done.stdout.splitlines()
    stops = [line for line in lines
             if line.startswith(("\u2713", "\u2717"))]
    check("the tour is right at every stop",
          done.returncode == 0 and len(stops) == 32
          and all(line[0] == "\u2713" for line in stops),
          done.stdout + done.stderr)
    check("its lines have at most 80 columns",
          all(len(line) <= 80 for line in lines), done.stdout)
    check_domain(lines)
    done = run(program, "tour", "--workers", "1", LC_ALL="C")
    check("it is right with one worker, too", done.returncode == 0,
          done.stdout + done.stderr)
    check("it is plain ASCII outside of UTF-8", done.stdout.isascii(),
          done.stdout)
    done = run("env", "-u", "XDG_RUNTIME_DIR", "taskset", "-c",
               str(max(os.sched_getaffinity(0))), program, "tour")
    check("and on one CPU, without a folder for sockets",
          done.returncode == 0, done.stdout + done.stderr)
    for number in (signal.SIGKILL, signal.SIGINT):
        check_tour_that_ends_early(program, number)
    for words in (("--workers",), ("--workers", "0"), ("--workers", "x"),
                  ("--workers", "4097"), ("--fast",),
                  ("--workers", "1", "more")):
        done = run(program, "tour", *words)
        check(f"the tour refuses {' '.join(words)}",
              done.returncode == 2 and "usage: sley tour" in done.stderr,
              done.stderr)


def processes_of(mark):
    """The command lines of all processes with this in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(file.read().split(b"\0"))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def eventually(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def check_tour_that_ends_early(program, number):
    """In the middle of the stop "domain", when all its processes run."""
    mark = f"SLEY_TOUR_OF_TEST={os.getpid()}.{number}"
    tour = subprocess.Popen(["env", mark, program, "tour"],
                            stdout=subprocess.DEVNULL)
    check("the tour comes to its domain",
          eventually(lambda: any(words[2:4] == [b"--member", b"urgent"]
                                 and words[4] != b"-"
                                 for words in processes_of(mark))))
    tour.send_signal(number)
    tour.wait()
    check(f"a tour that gets {number.name} leaves no process behind",
          eventually(lambda: not processes_of(mark)),
          str(processes_of(mark)))


def check_domain(lines):
    """Without a domain no core changes hands; in one urgent work gets one."""
    at = next(i for i, line in enumerate(lines) if "domain  " in line[:12])
    head, without, within = [line.split() for line in lines[at + 1:at + 4]]
    check("the tour compares an urgent process without and with a domain",
          head[-4:] == ["median", "worst", "hand-overs", "overtakes"]
          and without[:3] == ["without", "a", "domain"]
          and without[-2:] == ["0", "0"] and within[:3] == ["in", "a", "domain"]
          and int(within[-2]) + int(within[-1]) > 0, "\n".join(lines))


def check_doctor(program):
    done = run(program, "doctor", LC_ALL="C.UTF-8")
    lines = done.stdout.splitlines()
    findings = [line for line in lines if
                re.match(r"(ok|degraded|broken) ", line)]
    fixes = [line for line in lines if re.match(r" +fix: \S", line)]
    bad = [line for line in findings if not line.startswith("ok")]
    check("the doctor finds nothing broken",
          done.returncode == 0 and "0 broken." in lines[-1],
          done.stdout + done.stderr)
    check("each thing that is not ok has its fix", len(fixes) == len(bad),
          done.stdout)
    check("it looks at the kernel, the guards and the library",
          {"kernel", "guards", "sley"} <= {line.split()[1] for line in
                                           findings}, done.stdout)
    check("it counts cores, caches and nodes",
          re.search(r"^ok +placement +usable: \d+ CPU\(s\), \d+ core\(s\)",
                    done.stdout, re.M), done.stdout)
    narrow = run("taskset", "-c", str(max(os.sched_getaffinity(0))), program,
                 "doctor")
    check("it keeps to the CPUs that it may use",
          narrow.returncode == 0 and "1 in the affinity mask" in narrow.stdout
          and "usable: 1 CPU(s), 1 core(s)" in narrow.stdout, narrow.stdout)
    chaos = run(program, "doctor", SLEY_CHAOS="7").stdout
    check("it says whether SLEY_CHAOS does anything",
          re.search(r"^SLEY_CHAOS=7 (is ignored|disturbs)", chaos, re.M)
          and "SLEY_CHAOS" not in done.stdout, chaos)
    # Enough for the program and a small runtime, not for a million stacks.
    limited = run_limited(4096, program, "doctor")
    check("a limit on the address space is seen, and no reason to fail",
          limited.returncode == 0
          and re.search(r"^degraded +address space", limited.stdout, re.M)
          and re.search(r"^degraded +stacks", limited.stdout, re.M)
          and "fix: ulimit -v unlimited" in limited.stdout, limited.stdout)
    limited = run_limited(24, program, "doctor")
    check("where not even threads can be had, the doctor fails",
          limited.returncode == 1
          and re.search(r"^broken +sley ", limited.stdout, re.M),
          limited.stdout)
    limited = run_limited(24, program, "tour")
    check("and the tour sends its guests there", limited.returncode == 1
          and "Run 'sley doctor'" in limited.stderr, limited.stderr)


def check_colours(program):
    colour = {"TERM": "xterm", "NO_COLOR": ""}
    check("there are colours on a terminal",
          "\033[" in run_on_terminal(program, "doctor", **colour))
    check("there are none with NO_COLOR",
          "\033[" not in run_on_terminal(program, "doctor", TERM="xterm",
                                         NO_COLOR="1"))
    check("there are none in a pipe",
          "\033[" not in run(program, "doctor", **colour).stdout)


def check_words(program, version):
    done = run(program, "version")
    check("the version is the project's", done.returncode == 0 and
          done.stdout.startswith(f"sley {version}\n")
          and f"headers   {version}\n" in done.stdout, done.stdout)
    check("--version is the same",
          run(program, "--version").stdout == done.stdout)
    done = run(program, "version", "more")
    check("it takes no argument",
          done.returncode == 2 and "unexpected 'more'" in done.stderr)
    done = run(program)
    check("no command is a mistake, and all are listed", done.returncode == 2
          and all(f"sley {name}" in done.stderr for name in
                  ("tour", "doctor", "version", "help")), done.stderr)
    done = run(program, "wander")
    check("an unknown command is named, and all are listed",
          done.returncode == 2 and "no command 'wander'" in done.stderr
          and "usage: sley COMMAND" in done.stderr and not done.stdout,
          done.stderr)
    for name in ("tour", "doctor", "version", "help"):
        done = run(program, "help", name)
        check(f"there is help for {name}", done.returncode == 0
              and f"usage: sley {name}" in done.stdout, done.stdout)
        check(f"{name} --help is the same",
              run(program, name, "--help").stdout == done.stdout)
    check("there is none for what is no command",
          run(program, "help", "wander").returncode == 2)
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([program, "version"], stdout=full, check=False,
                              stderr=subprocess.PIPE, text=True)
    check("output that gets lost is an error", done.returncode == 1
          and "No space left" in done.stderr, done.stderr)


def check_near(program):
    for word, kind, meant in (
            ("tuor", "two letters in the other order", "'tour'"),
            ("Tour", "a capital", "'tour'"),
            ("docter", "a wrong letter", "'doctor'"),
            ("vrsion", "a letter too few", "'version'"),
            ("hellp", "a letter too many", "'help'"),
            ("doc", "the beginning of a name", "'doctor'"),
            ("timings", "a word of the summary", "'tour'"),
            ("library", "a word of two summaries", "'version' or 'help'")):
        line = f"sley: no command '{word}'; did you mean {meant}?"
        done = run(program, word)
        check(f"{kind}: {word} is {meant}", done.returncode == 2
              and done.stderr.splitlines()[0] == line and not done.stdout
              and "usage:" not in done.stderr, done.stderr)
        done = run(program, "help", word)
        check(f"help {word} finds {meant}", done.returncode == 2
              and done.stderr.splitlines()[0] == line, done.stderr)
    for word in ("", "and", "part of", "x", "t" * 5000, "wander"):
        done = run(program, word)
        check(f"nothing is near '{word[:10]}'", done.returncode == 2
              and "did you mean" not in done.stderr
              and "usage: sley COMMAND" in done.stderr, done.stderr)


def check_near_calls(program):
    for word, meant in (("sley_spwan", "'sley_spawn'"),
                        ("spawn", "'sley_spawn'"),
                        ("spwan", "'sley_spawn'"),
                        ("mutex_tr", "'sley_mutex_try_lock'")):
        done = run(program, "help", word)
        check(f"help {word} finds {meant}", done.returncode == 2
              and f"; did you mean {meant}?" in done.stderr
              and f" '{word}';" in done.stderr, done.stderr)
    done = run(program, "help", "blocking_")
    check("several calls are named", done.returncode == 2
          and "did you mean 'sley_blocking_begin', 'sley_blocking_call', "
          "'sley_blocking_call_until' or "
          "'sley_blocking_end'?" in done.stderr, done.stderr)
    done = run(program, "help", "sley_")
    check("but not all of them", done.returncode == 2
          and done.stderr.count("'") < 20 and " or others?" in done.stderr,
          done.stderr)
    check("the name of a command is not looked for among calls",
          "sley_" not in run(program, "spwan").stderr)


def write_config(folder, text):
    path = os.path.join(folder, "c.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o600)
    return path


def check_good_config(program, folder):
    path = write_config(folder, "runtime:\n  num_threads: 4\n"
                        "  queue_depth: 1024\ncompose:\n"
                        "  - mod_name: kv\n    pool_name: sessions\n"
                        "    containers: 8\n    params: { limit: 5 }\n")
    done = run(program, "config", "--check", path, SLEY_LOCAL_SCHED="mine")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    check("sley config --check tells where each value comes from",
          done.returncode == 0
          and f"runtime.num_threads 4 {path}:2" in lines
          and "runtime.local_sched mine $SLEY_LOCAL_SCHED" in lines
          and "runtime.tick_us 1000 default" in lines
          and f"runtime.queue_depth 1024 {path}:3, without effect" in lines
          and f"pool sessions kv, 8 {path}:5" in lines
          and "limit=5" in lines, done.stdout + done.stderr)
    check("and what has no effect", done.stderr ==
          f"{path}:3:16: 'queue_depth' has no effect: queues have no bound\n",
          done.stderr)
    same = run(program, "config", "--check", SLEY_CONFIG=path,
               SLEY_LOCAL_SCHED="mine")
    check("without a file it takes $SLEY_CONFIG", same.returncode == 0
          and same.stdout == done.stdout, same.stdout)
    done = run(program, "config", "--check")
    check("without both there are defaults", done.returncode == 0
          and len(done.stdout.splitlines()) == 44
          and "these are the defaults" in done.stderr
          and all(line.endswith(" default")
                  for line in done.stdout.splitlines()), done.stdout)


def check_long_words(program, folder):
    """What stands behind a long word is in its column all the same."""
    path = write_config(folder, "runtime:\n  directories: /long/%s\n"
                        "compose:\n  - mod_name: kv\n    pool_name: %s\n"
                        % ("d" * 30, "p" * 50))
    done = run(program, "config", "--check", path)
    ends = re.findall(rf"^(.* )(?:default|{path}:\d+)$", done.stdout, re.M)
    check("sley config --check keeps its columns behind long words",
          done.returncode == 0 and len(ends) == 45
          and len({len(end) for end in ends}) == 1,
          done.stdout + done.stderr)


def check_bad_config(program, folder):
    path = write_config(folder, "runtime:\n  num_thread: 4\n  io: x\n")
    done = run(program, "config", "--check", path)
    check("each mistake is a line, and the status is 1", done.returncode == 1
          and not done.stdout and done.stderr.startswith(
              f"{path}:2:3: there is no key 'num_thread' in 'runtime'; did "
              f"you mean 'num_threads'?\n{path}:3:7: 'io' wants ")
          and done.stderr.count("\n") == 2, done.stderr)
    os.chmod(path, 0o666)
    done = run(program, "config", "--check", path)
    check("a file that others may write is refused", done.returncode == 1
          and "chmod go-w" in done.stderr, done.stderr)
    done = run(program, "config", "--check", path + ".none")
    check("and one that is not there", done.returncode == 1
          and "No such file" in done.stderr, done.stderr)
    for words in ((), ("--check", "a", "b"), ("--sample", "a"), ("file",)):
        done = run(program, "config", *words)
        check(f"sley config {' '.join(words)} is refused",
              done.returncode == 2 and "usage: sley config" in done.stderr,
              done.stderr)


def check_config(program, sample):
    if "sley config" not in run(program, "help").stdout:
        print("skip sley config: built without libyaml")
        return
    with open(sample, encoding="utf-8") as file:
        text = file.read()
    done = run(program, "config", "--sample")
    check("sley config --sample prints docs/sley.yaml",
          done.returncode == 0 and done.stdout == text, done.stdout)
    with tempfile.TemporaryDirectory() as folder:
        path = write_config(folder, text)
        done = run(program, "config", "--check", path)
        check("which is a good file", done.returncode == 0
              and not done.stderr, done.stderr)
        check_good_config(program, folder)
        check_long_words(program, folder)
        check_bad_config(program, folder)


def check_manual(program, folder):
    with open(os.path.join(folder, "sley.1"), encoding="utf-8") as file:
        page = file.read()
    listed = re.findall(r"^  sley (\w+)", run(program, "help").stdout, re.M)
    check("each command is in the manual",
          listed and all(re.search(rf"\b{name}\b", page) for name in listed))
    with tempfile.TemporaryDirectory() as path:
        man = os.path.join(path, "man")
        with open(man, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho man $*\n")
        os.chmod(man, 0o755)
        done = run(program, "help", "sley_spawn", PATH=path + ":/bin")
        check("help for a call opens its manual page", done.returncode == 0
              and done.stdout == "man 3 sley_spawn\n", done.stdout)
        with open(man, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho $MANPATH\n")
        done = run(program, "help", "sley.h", PATH=path + ":/bin",
                   MANPATH="/others")
        places = done.stdout.strip().split(":")
        check("man looks first at the pages beside the program",
              os.path.exists(os.path.join(places[0], "man3", "sley.h.3"))
              and places[1:] == ["/others"], done.stdout)
    done = run(program, "help", "sley_spawn", PATH="/nowhere")
    check("and says so where there is no man", done.returncode == 1
          and "cannot run man" in done.stderr, done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "version", "man"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    for name in ("SLEY_TRACE", "SLEY_CONFIG", "SLEY_IO"):
        os.environ.pop(name, None)
    check_words(args.program, args.version)
    check_near(args.program)
    check_near_calls(args.program)
    check_manual(args.program, args.man)
    check_config(args.program, os.path.join(args.man, "../docs/sley.yaml"))
    check_tour(args.program)
    check_doctor(args.program)
    check_colours(args.program)
    print(f"{failures} failed")
    return failures != 0


sys.exit(main())
