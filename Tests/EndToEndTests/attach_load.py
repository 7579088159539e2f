"""Changes the rows of attached tables at random, beside workers that are killed, and says what is missing or left over.

    attach_load.py KIND TABLE KEYS SQL…

KIND: sqlite or postgresql. TABLE: the attached one, with the columns id, picture and code, of which id and code are unique.
SQL…: a command that runs statements on its standard input and prints what they select, with | between the columns. Four clients
change rows, in transactions that are rolled back now and then. Prints the number of statements.
"""
import random
import subprocess
import sys
import threading

kind, table, statements = sys.argv[1], sys.argv[2], int(sys.argv[3])
sql = sys.argv[4:]
lite = kind == "sqlite"


def value(rng):
    # Few pictures, so that rows share them; some are none.
    return rng.choice(["NULL", "''", "'file:///etc/passwd'", "'no picture'"] + [f"'initials:{n}'" for n in range(24)] * 2)


def statement(rng):
    key, code = rng.randrange(40), rng.randrange(1_000_000)
    row = f"({key}, {value(rng)}, {code})"
    choice = rng.randrange(12)
    insert = f"INSERT INTO {table}(id, picture, code) VALUES {row}"
    if choice < 4:
        change = "picture = excluded.picture, code = excluded.code"
        return f"{insert} ON CONFLICT (id) DO UPDATE SET {change};"
    if choice < 5:
        return f"INSERT OR REPLACE INTO {table}(id, picture, code) VALUES {row};" if lite else f"{insert} ON CONFLICT DO NOTHING;"
    if choice < 6:
        return f"INSERT OR IGNORE INTO {table}(id, picture, code) VALUES {row};" if lite else f"{insert} ON CONFLICT DO NOTHING;"
    if choice < 8:
        return f"UPDATE {table} SET picture = {value(rng)} WHERE id = {key};"
    if choice < 9:
        return f"UPDATE {table} SET picture = picture;"
    if choice < 10:
        return f"UPDATE {table} SET id = {rng.randrange(40, 80)} WHERE id = {key} AND NOT EXISTS (SELECT 1 FROM {table} WHERE id >= 40);"
    if choice < 11 or rng.random() < 0.9:
        return f"DELETE FROM {table} WHERE id = {key} OR id >= 40;"
    return f"DELETE FROM {table};" if lite else f"TRUNCATE {table};"


def transaction(rng):
    lines = [statement(rng) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines)), "SAVEPOINT s;")
        lines.append("ROLLBACK TO s;")
    begin = "BEGIN IMMEDIATE;" if lite else "BEGIN;"
    # Rows in one order, so that the clients' own locks are no subject.
    lock = "" if lite else f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;" if rng.random() < 0.2 else ""
    return "\n".join([begin, lock] + lines + [rng.choice(["COMMIT;"] * 4 + ["ROLLBACK;"])]), len(lines)


def client(number, done, failures):
    rng = random.Random(number)
    while done[number] < statements // 4:
        script, count = "", 0
        for _ in range(10):
            text, lines = transaction(rng)
            script, count = f"{script}{text}\n", count + lines
        ran = subprocess.run(sql, input=script, text=True, capture_output=True)
        # Two clients of a server may change rows in another order, as without Cameo.
        errors = [line for line in ran.stderr.splitlines() if "ERROR" in line or "Error" in line]
        failures += [line for line in errors if "deadlock detected" not in line and "current transaction is aborted" not in line
                     and "savepoint" not in line and "duplicate key" not in line and "moved to another partition" not in line]
        done[number] += count


done, failures = [0] * 4, []
threads = [threading.Thread(target=client, args=(number, done, failures)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# Some rows stay in any case.
change = "picture = excluded.picture, code = excluded.code"
last = "".join(
    f"INSERT INTO {table}(id, picture, code) VALUES ({key}, 'initials:{key}', -{key}) ON CONFLICT (id) DO UPDATE SET {change};\n"
    for key in range(10)
)
ran = subprocess.run(sql, input=last, text=True, capture_output=True)
failures += [line for line in ran.stderr.splitlines() if "ERROR" in line or "Error" in line]
print(f"{sum(done)} statements")
if failures:
    sys.exit("\n".join(failures[:10]))
