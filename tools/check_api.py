#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_api - what every function of include/sley promises its callers.

- It carries one word for who may call it and one for what it blocks.
- The comment directly above opens with its name and has the lines Context,
  Blocks and Errors, with Owner and Order between Blocks and Errors.
- "Blocks: never" and SLEY_NEVER_BLOCKS say the same.
- An int that can be an error is SLEY_MUST_CHECK, or listed here with a reason.
- What waits has a twin with a deadline, or takes a struct sley_how, or has a
  _with twin that does, or is listed here with a reason.
- src/libsley.map lists the exported functions and no others, and each is
  defined once in src/.  The functions of http.h are in src/libsley-http.map, those
  of config_file.h in src/libsley-config.map.
"""
import re

import csource
from header import PRIVATE, comment_fields, header_functions

CONTEXTS = {"SLEY_ANY_THREAD", "SLEY_TASK_ONLY"}
BLOCKS = {"SLEY_NEVER_BLOCKS", "SLEY_BLOCKS_FIBER", "SLEY_BLOCKS_THREAD"}
LINES = ["Context", "Blocks", "Owner", "Order", "Errors"]
REQUIRED = ["Context", "Blocks", "Errors"]

# Without a deadline these fail by cancellation only (or by misuse of the
# object by its owner), and a task that does not care may go on.
UNCHECKED = {
    "sley_io_close": "closes in any case; errors are of late writes",
    "sley_listener_close": "it is closed either way",
    "sley_stream_close": "it is closed either way",
    "sley_stream_close_until": "it is closed either way",
    "sley_node_cancel": "it may have ended anyway",
    "sley_destroy": "fails only if two threads destroy it, or after fork()",
    "sley_sleep": "only cancelled",
    "sley_sleep_until": "only cancelled; the deadline is the success",
    "sley_chan_send": "closed or cancelled; a sender may not care",
    "sley_future_set": "who is late may not care",
    "sley_future_fail": "who is late may not care",
    "sley_task_status": "the value is the answer, not a failure",
    "sley_blocking_begin": "where it fails the code runs on the worker",
    "sley_domain_leave": "it is no member either way",
    "sley_domain_set_strict": "fails only after fork()",
    "sley_run_one": "the value is the answer, not a failure",
    "sley_source_notify": "fails in a child of fork() only",
    "sley_wake": "the task has ended; a waker may not care",
    "sley_wake_id": "the task has ended; a waker may not care",
    "sley_key_wake": "the key is gone; a waker may not care",
    "sley_key_destroy": "it is gone either way",
    "sley_send": "the process is gone; a sender may not care",
    "sley_send_owned": "as sley_send()",
    "sley_send_blob": "as sley_send()",
    "sley_send_many": "as sley_send()",
    "sley_msg_forward": "as sley_send()",
    "sley_reply": "who asked is gone; who answers may not care",
    "sley_topic_publish": "how many got it",
    "sley_command_complete": "the process is gone; a handler may not care",
    "sley_command_complete_error": "as sley_command_complete()",
    "sley_out_yield": "a command that is not taken is not done",
    "sley_command_unhandle": "it has no handler either way",
    "sley_process_cancel": "it is gone either way",
    "sley_process_kill": "it is gone either way",
    "sley_name_unregister": "nobody has the name either way",
    "sley_topic_leave_matching": "as sley_topic_leave()",
    "sley_topic_leave": "it is no member either way",
    "sley_post_cancel": "it is not sent again either way",
}

# The headers of the libraries that stand beside libsley, and their maps.
BESIDE = {"include/sley/http.h": "src/libsley-http.map",
          "include/sley/config_file.h": "src/libsley-config.map"}

# Waits that have no deadline.
NO_TWIN = {
    "sley_config_file_load": "waits for a file",
    "sley_config_file_start": "as sley_create() and sley_router_create()",
    "sley_config_file_compose": "as sley_pool_open()",
    "sley_http_server_open": "as sley_listener_open()",
    "sley_http_server_run": "sley_http_server_stop() ends it",
    "sley_http_server_close": "as sley_listener_close()",
    "sley_http_read": "the deadlines are in the options of the server",
    "sley_http_respond": "the same",
    "sley_http_begin": "the same",
    "sley_http_write": "the same",
    "sley_http_respond_file": "the same",
    "sley_http_client_close": "as sley_stream_close(), with nothing to write",
    "sley_router_create": "waits for a file",
    "sley_server_destroy": "sley_server_stop_until() comes before it",
    "sley_client_open": ".connect_ns is its deadline",
    "sley_client_close": "waits for waits that it ends",
    "sley_client_pool_open": "as sley_pool_open(); .reconnect_ns",
    "sley_router_refresh": "waits for files",
    "sley_domain_join": "a host has 10 s to answer",
    "sley_domain_leave": "waits for a thread that it ends",
    "sley_domain_host_wait": "sley_domain_host_stop() ends it",
    "sley_pool_open": "waits for create() of the module",
    "sley_pool_destroy": "waits for methods, which have deadlines of their own",
    "sley_router_destroy": "as sley_pool_destroy()",
    "sley_container_upgrade": "waits for upgrade() of the module",
    "sley_container_upgrade_to": "the same",
    "sley_pool_inspect_json": "waits for monitor() of the module",
    "sley_pool_call": "the deadline is in the spec of the request",
    "sley_kv_get": "as sley_pool_call(): a request has a deadline",
    "sley_kv_get_entry": "the same",
    "sley_kv_set": "the deadline is in its options",
    "sley_kv_cas": "the same",
    "sley_kv_delete": "as sley_kv_get()",
    "sley_kv_scan": "the same",
    "sley_kv_get_stats": "the same",
    "sley_yield": "waits for nothing",
    "sley_blocking_begin": "waits for a thread that is there",
    "sley_blocking_end": "waits for its own worker",
    "sley_fork": "gives way to more urgent tasks, and then goes on",
    "sley_fork_fast": "as sley_fork()",
    "sley_fork_join": "the child lives in the caller's frame",
    "sley_fork_call_fast": "the child itself",
    "sley_scope_close": "the members live in the caller's frame",
    "sley_parallelize": "the tasks live in its own frame",
    "sley_defer_run": "what the user gave to SLEY_DEFER()",
    "sley_send_owned": "waits as sley_send() does; only that has a twin",
    "sley_send_blob": "the same",
    "sley_msg_forward": "the same",
    "sley_receive_tag_until": "takes a deadline",
    "sley_receive_where_until": "takes a deadline",
    "sley_graph_destroy": "its nodes use it",
    "sley_source_destroy": "its functions use what the caller then frees",
    "sley_graph_buffer_drop": "waits for who submits at the same time",
    "sley_graph_cancel": "waits for who submits at the same time",
    "sley_graph_run_end": "the same",
    "sley_graph_step": "runs nodes itself",
    "sley_graph_scope_begin": "the same",
    "sley_graph_scope_end": "the same",
    "sley_graph_scope_cancel": "the same",
    "sley_graph_scope_get_stats": "the same",
    "sley_node_outcome": "the same",
    "sley_node_explain": "the same",
    "sley_graph_explain": "the same",
    "sley_plan_cancel": "waits for who begins or ends a run",
    "sley_plan_outcome": "the same",
    "sley_plan_explain": "the same",
    "sley_io_close": "the calls that it waits for leave at once",
    "sley_program_start": "the kernel starts a program, or does not",
    "sley_program_shut": "as sley_io_close()",
    "sley_program_close": "a killed process is gone soon",
    "sley_listener_close": "as sley_io_close()",
    "sley_listener_open": "waits for names only: resolve them before",
    "sley_listener_serve": "a close of the listener ends it",
    "sley_stream_abort": "as sley_io_close()",
    "sley_subprocess_create": "its options have a deadline",
    "sley_subprocess_destroy": "waits for a second, then kills",
    "sley_graph_dump": "the same",
    "sley_guard_lock": "half of SLEY_MUTEX_GUARD(), which cannot fail",
}


def check_words(function, report):
    for words, what in ((CONTEXTS, "who may call it"),
                        (BLOCKS, "what it blocks")):
        found = [w for w in function.words if w in words]
        if len(found) != 1:
            report.add(function.path, function.line,
                       f"{function.name}: {len(found)} words for {what}")
    inline = "static" in function.words and "inline" in function.words
    if function.exported == inline:
        report.add(function.path, function.line,
                   f"{function.name}: either SLEY_EXPORT or static inline")


def check_comment(function, report):
    def complain(text):
        report.add(function.path, function.line, f"{function.name}: {text}")

    if PRIVATE.search(function.name):
        return
    if not re.match(r"/\*\n \* " + function.name + r" - \S",
                    function.comment):
        complain(f"no comment '{function.name} - ...' directly above")
        return
    fields = comment_fields(function.comment)
    labels = [label for label, _ in fields]
    for label in REQUIRED:
        if label not in labels:
            complain(f"the comment has no line '{label}:'")
    if labels != [label for label in LINES if label in labels]:
        complain("comment lines are " + ", ".join(labels) + "; wanted once "
                 "each, in the order " + ", ".join(LINES))
    text = dict(fields)
    never = text.get("Blocks", "").startswith("never")
    if "Blocks" in text and never != ("SLEY_NEVER_BLOCKS" in function.words):
        complain("'Blocks:' and the word on the prototype disagree")
    fails = not text.get("Errors", "none").startswith("none")
    is_int = re.search(r"\bint\s*$", function.head.split(function.name)[0])
    checked = "SLEY_MUST_CHECK" in function.words
    if is_int and fails and not checked and function.name not in UNCHECKED:
        complain("can fail, but is not SLEY_MUST_CHECK")
    if checked and function.name in UNCHECKED:
        complain("is SLEY_MUST_CHECK and on the list of exceptions")


def algorithms(functions):
    """Those that end with their scope, which has the deadline."""
    ended = {f.name for f in functions
             if f.name.endswith("_with") and "struct sley_how" in f.head}
    return ended | {name[:-len("_with")] for name in ended}


def check_twins(functions, report):
    names = {f.name for f in functions}
    exempt = algorithms(functions) | set(NO_TWIN)
    for function in functions:
        if ("SLEY_BLOCKS_FIBER" in function.words
                and not function.name.endswith(("_until", "_slow"))
                and function.name + "_until" not in names
                and function.name not in exempt):
            report.add(function.path, function.line,
                       f"{function.name}: waits, but has no _until twin")


def variables(root):
    """Those that inline functions need."""
    return {name for path in csource.files(root, "include/sley/*.h")
            for name in re.findall(
                r"SLEY_EXPORT extern [^;(]*?(\w+)\s*(?:;|__attribute__)",
                csource.read(root, path))}


def check_map(root, path, functions, known, report):
    text = csource.blank(csource.read(root, path))
    listed = {}
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"\b(\w+);", line.split("local:")[0]):
            if name in listed:
                report.add(path, number, f"{name} is listed twice")
            listed[name] = number
    if not re.search(r"local:\s*\*;", text):
        report.add(path, 1, "has no 'local: *;'")
    exported = {f.name: f for f in functions if f.exported}
    for name in sorted(set(exported) - set(listed)):
        report.add(exported[name].path, exported[name].line,
                   f"{name} is exported, but not in {path}")
    for name in sorted(set(listed) - set(exported) - known):
        report.add(path, listed[name], f"{name} is in no public header")
    defined = {}
    for source in csource.files(root, "src/*.c"):
        for name, line, _, _ in csource.functions(csource.read(root, source)):
            defined.setdefault(name, []).append((source, line))
    for name in sorted(exported):
        if len(defined.get(name, [])) != 1:
            report.add(exported[name].path, exported[name].line,
                       f"{name} is defined {len(defined.get(name, []))} "
                       f"times in src/")


def main():
    root = csource.root_argument(__doc__).parse_args().root
    report = csource.Report("check_api")
    paths = csource.files(root, "include/sley/*.h")
    functions = []
    for path in paths:
        functions += header_functions(root, path)
    for function in functions:
        check_words(function, report)
        check_comment(function, report)
    check_twins(functions, report)
    check_map(root, "src/libsley.map",
              [f for f in functions if f.path not in BESIDE], variables(root),
              report)
    for path, name in BESIDE.items():
        beside = [f for f in functions if f.path == path]
        if beside:
            check_map(root, name, beside, set(), report)
    return report.finish(len(paths) if functions else 0)


if __name__ == "__main__":
    csource.run(main)
