#!/usr/bin/python3
"""A program that has tables of its own and enqueues, in each of the ways that proto-json/README.md speaks of.

    own_tables.py STEP OWN STORE

Steps: `prepare`; then `attached`, `attached-store-first`, `inside` or `outbox` accept one photo and its request; `move` and
`move-once` empty the outbox. `look` prints how many photos, jobs and rows of the outbox there are.
"""
import json
import sqlite3
import sys

step, own, store = sys.argv[1:]
REQUEST = json.dumps({"source": "initials:AB", "renditions": [{"width": 16}]})


def connect(path, attached=None):
    db = sqlite3.connect(path, timeout=10)
    if attached:
        db.execute("ATTACH ? AS other", (attached,))
    db.execute("PRAGMA wal_autocheckpoint=0")
    return db


def prepare():
    db = connect(own)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE photo(id INTEGER PRIMARY KEY)")
    db.execute("CREATE TABLE outbox(id INTEGER PRIMARY KEY, request TEXT NOT NULL)")
    db.close()
    db = connect(store)
    db.execute("CREATE TABLE app_photo(id INTEGER PRIMARY KEY)")
    db.execute("CREATE TABLE app_moved(id INTEGER PRIMARY KEY)")
    db.close()


def accept(db, photo, job):
    with db:
        db.execute(f"INSERT INTO {photo} DEFAULT VALUES")
        db.execute(f"INSERT INTO {job}(request) VALUES (?)", (REQUEST,))


def move(once):
    source, target = connect(own), connect(store)
    for row, request in source.execute("SELECT id, request FROM outbox ORDER BY id").fetchall():
        with target:
            is_new = not once or target.execute("INSERT OR IGNORE INTO app_moved VALUES (?)", (row,)).rowcount == 1
            if is_new:
                target.execute("INSERT INTO job(request) VALUES (?)", (request,))
        with source:
            source.execute("DELETE FROM outbox WHERE id = ?", (row,))


def look():
    db = connect(own, store)
    print(*db.execute(
        """SELECT (SELECT count(*) FROM photo) + (SELECT count(*) FROM app_photo),
             (SELECT count(*) FROM other.job), (SELECT count(*) FROM outbox)"""
    ).fetchone())


if step == "prepare":
    prepare()
elif step == "attached":
    accept(connect(own, store), "main.photo", "other.job")
elif step == "attached-store-first":
    accept(connect(store, own), "other.photo", "main.job")
elif step == "inside":
    accept(connect(store), "app_photo", "job")
elif step == "outbox":
    accept(connect(own), "photo", "outbox")
elif step in ("move", "move-once"):
    move(once=step == "move-once")
elif step == "look":
    look()
else:
    sys.exit(f"no such step: {step}")
