#!/usr/bin/python3
"""Runs a program on a terminal of its own and prints what came of it as JSON.

    terminal.py COLUMNSxROWS STEP… -- PROGRAM ARGUMENT…

Steps, in order:
    wait:TEXT             until TEXT is drawn after the last step
    type:TEXT             presses keys; \\x03 is Ctrl-C
    resize:COLUMNSxROWS   changes the window
    signal:NAME           sends SIGNAME to the program
    stopped               until the program is stopped
    run:COMMAND           runs a shell command
At the end of the steps, waits for the program. Printed are its output, the lengths of the output at the end of each step,
its exit status (negative: a signal), and whether the terminal's modes were restored: at its end, and when it was stopped.
"""
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios


def main():
    split = sys.argv.index("--")
    size, steps, program = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
    master, slave = os.openpty()
    resize(master, size)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for descriptor in range(3):
            os.dup2(slave, descriptor)
        os.closerange(3, 256)
        os.execv(program[0], program)
    end = os.pidfd_open(pid)
    output, marks, restored = bytearray(), [], []

    def read(until):
        """Reads what the program draws until a condition holds, or the program has ended and all is read."""
        while not until():
            ready = select.select([master, end], [], [], 0.02)[0]
            if master in ready:
                output.extend(os.read(master, 65536))
            elif ready:
                return

    def is_stopped():
        found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
        return found is not None

    for step in steps:
        word, _, text = step.partition(":")
        start = len(output)
        if word == "wait":
            read(lambda: text.encode() in output[start:])
        elif word == "type":
            os.write(master, text.encode().decode("unicode_escape").encode())
        elif word == "resize":
            resize(master, text)
        elif word == "signal":
            os.kill(pid, getattr(signal, "SIG" + text))
        elif word == "stopped":
            read(is_stopped)
            restored.append(termios.tcgetattr(slave) == before)
        elif word == "run":
            subprocess.run(text, shell=True, check=True)
        else:
            sys.exit(f"no such step: {step}")
        marks.append(len(output))
    read(lambda: False)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    restored.append(termios.tcgetattr(slave) == before)
    # Positions are counted in characters; what is drawn is UTF-8.
    marks = [len(output[:mark].decode("utf-8", "replace")) for mark in marks]
    print(json.dumps({
        "output": output.decode("utf-8", "replace"), "marks": marks, "exitStatus": code, "restored": restored,
    }))


def resize(master, size):
    columns, rows = map(int, size.split("x"))
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


main()
