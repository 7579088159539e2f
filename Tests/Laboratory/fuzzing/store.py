"""Flips bytes of a store, and runs every command on it: see deploy/fuzz."""
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess

import lab

# A command that takes longer hangs.
GUARD = 300
JOBS = 24
COMMANDS = [
    ["cameo-status", "--json"], ["cameo-worker", "--drain"], ["cameo-enqueue", "initials:New", "--size", "16x"],
    ["cameo-status", "jobs"], ["cameo-admin", "check"], ["cameo-admin", "check", "--repair"], ["cameo-worker", "--drain"],
    ["cameo-admin", "check"],
]
FAULTS = ("traps", "hangs", "unfinished")


class StoreFuzz:
    def __init__(self, bin, folder, keep, seed):
        self.bin, self.folder, self.keep, self.random = bin, folder, keep, random.Random(seed)
        self.template, self.store = folder / "template", folder / "store"
        self.found = {"rounds": 0, "traps": 0, "hangs": 0, "unfinished": 0, "damaged": 0, "kept": []}

    def command(self, name, *arguments, store=None):
        """The exit code of a command, negative for a signal, None for a hang; and what it printed."""
        words = [str(self.bin / name), *arguments, "--store", str(store or self.store)]
        try:
            ended = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=GUARD)
        except subprocess.TimeoutExpired:
            return None, "hung"
        return ended.returncode, ended.stdout + ended.stderr

    def prepare(self):
        """A store with jobs in every state, among them some that SQL inserted, and with several pages of each table."""
        for batch in range(4):
            names = [f"initials:Job%20{batch}{number}" for number in range(JOBS // 4)]
            self.command("cameo-enqueue", *names, "--size", "16x16", "--batch", f"b{batch}", store=self.template)
            if batch == 1:
                self.command("cameo-worker", "--drain", store=self.template)
        with contextlib.closing(lab.connect(self.template)) as database:
            for number in range(JOBS // 4):
                request = {"source": "initials:SQL", "renditions": [{"width": 16}], "metadata": {"number": number}}
                database.execute("INSERT INTO job(request) VALUES (?)", (json.dumps(request),))
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def round(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.template, self.store)
        file = self.store / "cameo.sqlite"
        data = bytearray(file.read_bytes())
        place, bit = self.random.randrange(len(data)), 1 << self.random.randrange(8)
        data[place] ^= bit
        file.write_bytes(data)
        problems = []
        for words in COMMANDS:
            code, text = self.command(*words)
            if code is None:
                problems.append(("hangs", words, text))
            elif code < 0 or code in (132, 133, 134, 139) or "Fatal error" in text:
                problems.append(("traps", words, text))
        if code:  # of the last check
            self.found["damaged"] += 1
        elif left := self.unfinished():
            problems.append(("unfinished", words, f"jobs {left} did not end, and check finds nothing wrong"))
        self.found["rounds"] += 1
        for kind, words, text in problems:
            self.found[kind] += 1
            kept = self.keep / f"store-{place}-{bit}"
            if not kept.exists():
                shutil.copytree(self.template, kept)
                (kept / "cameo.sqlite").write_bytes(data)
            self.found["kept"].append({"kind": kind, "store": str(kept), "command": " ".join(words), "text": text[-500:]})

    def unfinished(self):
        """The jobs that have not ended, of a store in which nothing is wrong."""
        with contextlib.closing(sqlite3.connect(f"file:{self.store}/cameo.sqlite?mode=ro", uri=True)) as database, \
                contextlib.suppress(sqlite3.Error):
            look = "SELECT id FROM task UNION SELECT id FROM job EXCEPT SELECT id FROM outcome"
            return [row[0] for row in database.execute(look)]
        return []


def fuzz_store(bin, folder, keep, seed, rounds):
    """Runs so many rounds, and returns what was found."""
    fuzz, line = StoreFuzz(pathlib.Path(bin), pathlib.Path(folder), keep, seed), lab.Line()
    fuzz.prepare()
    for number in range(rounds):
        fuzz.round()
        bad = sum(fuzz.found[kind] for kind in FAULTS)
        line(f"{number + 1} of {rounds} flips, {fuzz.found['damaged']} stores damaged, {bad} faults")
    line.close()
    return fuzz.found
