"""Flips bits of a store, and runs every command on it: see deploy/fuzz."""
import contextlib
import json
import random
import shutil
import sqlite3
import subprocess

import lab

GUARD = 300  # seconds; a command that takes longer hangs
JOBS = 24
COMMANDS = [
    ["cameo-status", "--json"], ["cameo-worker", "--drain"], ["cameo-enqueue", "initials:New", "--size", "16x"],
    ["cameo-status", "jobs"], ["cameo-admin", "check"], ["cameo-admin", "check", "--repair"],
    ["cameo-worker", "--drain"],
    ["cameo-admin", "check"],
]
FAULTS = ("traps", "hangs", "unfinished")


def command(bin, store, name, *arguments):
    """The exit code of a command, negative for a signal, None for a hang; and what it printed."""
    words = lab.words(bin / name, *arguments, "--store", store)
    try:
        done = subprocess.run(words, cwd=store.parent, capture_output=True, text=True, errors="replace", timeout=GUARD)
    except subprocess.TimeoutExpired:
        return None, "hung"
    return done.returncode, done.stdout + done.stderr


def make(bin, store):
    """A store with jobs in every state, among them some that SQL inserted, and with several pages of each table."""
    for batch in range(4):
        names = [f"initials:Job%20{batch}{number}" for number in range(JOBS // 4)]
        command(bin, store, "cameo-enqueue", *names, "--size", "16x16", "--batch", f"b{batch}")
        if batch == 1:
            command(bin, store, "cameo-worker", "--drain")
    with lab.connect(store) as database:
        for number in range(JOBS // 4):
            request = {"source": "initials:SQL", "renditions": [{"width": 16}], "metadata": {"number": number}}
            database.execute("INSERT INTO job(request) VALUES (?)", (json.dumps(request),))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def unfinished(store):
    """The jobs that have not ended, of a store in which nothing is wrong."""
    with contextlib.closing(sqlite3.connect(f"file:{store}/cameo.sqlite?mode=ro", uri=True)) as database, \
            contextlib.suppress(sqlite3.Error):
        look = "SELECT id FROM task UNION SELECT id FROM job EXCEPT SELECT id FROM outcome"
        return [row[0] for row in database.execute(look)]
    return []


def problems_of(bin, store):
    """Runs all commands. Whether the last check finds damage; and (kind, command, text) of each problem."""
    problems = []
    for words in COMMANDS:
        code, text = command(bin, store, *words)
        if code is None:
            problems.append(("hangs", words, text))
        elif code < 0 or code in (132, 133, 134, 139) or "Fatal error" in text:
            problems.append(("traps", words, text))
    if not code and (left := unfinished(store)):
        problems.append(("unfinished", words, f"jobs {left} did not end, and check finds nothing wrong"))
    return bool(code), problems


def fuzz_store(bin, folder, keep, seed, rounds):
    """Runs so many rounds, and returns what was found."""
    rng, line, template, store = random.Random(seed), lab.Line(), folder / "template", folder / "store"
    found = {"rounds": 0, "traps": 0, "hangs": 0, "unfinished": 0, "damaged": 0, "kept": []}
    make(bin, template)
    for _ in range(rounds):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(template, store)
        data = bytearray((store / "cameo.sqlite").read_bytes())
        place, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        data[place] ^= bit
        (store / "cameo.sqlite").write_bytes(data)
        is_damaged, problems = problems_of(bin, store)
        found["damaged"] += is_damaged
        found["rounds"] += 1
        for kind, words, text in problems:
            found[kind] += 1
            kept = keep / f"store-{place}-{bit}"
            if not kept.exists():
                shutil.copytree(template, kept)
                (kept / "cameo.sqlite").write_bytes(data)
            found["kept"].append({"kind": kind, "store": str(kept), "command": " ".join(words), "text": text[-500:]})
        line("{rounds} of {} flips, {damaged} stores damaged, {} faults".format(
            rounds, sum(found[kind] for kind in FAULTS), **found))
    line.close()
    return found
