#!/usr/bin/python3
"""Runs a program under the system call filter of a systemd unit, as systemd would, without systemd.

    seccomp_run.py UNIT PROGRAM ARGUMENTS…
    seccomp_run.py CALL=ERROR PROGRAM ARGUMENTS…

The second form refuses one call, as a container's profile may: clone3=EPERM. The first reads the unit's SystemCallFilter= lines, has `systemd-analyze syscall-filter` spell out the sets, and loads the filter by
libseccomp (Debian's python3-seccomp) under no_new_privs. What is not allowed fails with EPERM, as SystemCallErrorNumber says.
"""
import errno
import os
import subprocess
import sys

import seccomp


def expand(word):
    """The system calls of a set, which may have sets in it."""
    if not word.startswith("@"):
        return {word}
    lines = subprocess.run(["systemd-analyze", "syscall-filter", word], check=True, capture_output=True, text=True)
    words = [line.strip() for line in lines.stdout.splitlines()[1:]]
    return set().union(*(expand(word) for word in words if word and not word.startswith("#")))


def allowed(unit):
    calls = set()
    for line in open(unit):
        if not line.startswith("SystemCallFilter="):
            continue
        words = line.split("=", 1)[1].strip()
        listed = set().union(*(expand(word) for word in words.removeprefix("~").split()))
        calls = calls - listed if words.startswith("~") else calls | listed
    return calls


unit, program = sys.argv[1], sys.argv[2:]
if "=" in unit:
    call, error = unit.split("=")
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.add_rule(seccomp.ERRNO(getattr(errno, error)), call)
    rules.load()
    os.execv(program[0], program)
rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
known = 0
for call in sorted(allowed(unit)):
    try:
        rules.add_rule(seccomp.ALLOW, call)
        known += 1
    except (RuntimeError, ValueError):
        pass  # of another architecture
if known < 200:
    sys.exit(f"the unit allows only {known} system calls: it was not understood")
rules.load()
os.execv(program[0], program)
