#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""no_trace - a library built without SLEY_FAULTS has nothing of it.

The hooks of src/os/fault.h are for tests: no symbol of theirs, and no section
of sites, may be in what users get.
"""
import argparse
import subprocess
import sys

WORDS = ("fault_reached", "fault_set_plan", "fault_count_mapped", "fault_site_",
         "fault_lock", "sley_faults")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library", nargs="+")
    arguments = parser.parse_args()
    status = 0
    for library in arguments.library:
        names = subprocess.run([arguments.nm, "-a", library], check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        if "sley_create" not in names:
            print(f"no_trace: {library} has no symbols")
            status = 1
        for word in WORDS:
            if word in names:
                print(f"no_trace: {library} has {word}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
