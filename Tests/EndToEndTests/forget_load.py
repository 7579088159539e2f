"""Has thumbnails made and forgotten beside many clients, and says what a client got that it must not get.

    forget_load.py URL TOKEN SQL…    SQL…: a command that runs the statement on its standard input

Every second job is forgotten at a moment of its own: before, while or after it is made, by a label, a URI or SQL. From the
moment of the answer no request may find it. Prints the counts, and ends with 1 if one did or something else is missing.
"""
import asyncio
import json
import random
import resource
import sys
import urllib.parse

url, token, sql = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2], sys.argv[3:]
JOBS, CLIENTS = 400, 2_000
# Seconds without an answer, or without any job that ends: then something hangs.
PATIENCE = 300
resource.setrlimit(resource.RLIMIT_NOFILE, (8_192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
thumbnails, digests, gone, served, wrong = {}, {}, set(), 0, []
ended = asyncio.Event()


async def ask(connection, method, path, body=b""):
    reader, writer = connection
    head = f"{method} {url.path.rstrip('/')}{path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    lines = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    content = await reader.readexactly(int(fields.get("content-length", 0)))
    return int(lines[0].split()[1]), fields, content


async def client():
    global served
    connection = await asyncio.open_connection(url.hostname, url.port)
    while not ended.is_set():
        job = random.randrange(JOBS)
        if job not in thumbnails:
            await asyncio.sleep(0.05)
            continue
        paths = [thumbnails[job]] + ([digests[job]] if job in digests else [])
        path, was_gone = random.choice(paths), job in gone
        status, fields, _ = await ask(connection, "GET", path)
        if status == 200:
            served += 1
            if path == thumbnails[job]:
                digests[job] = "/blob/" + fields["etag"].strip('"')
            if was_gone:
                wrong.append(f"job {job}: {path} is served after it was forgotten")
        elif status not in (202, 410) and not (status == 404 and path not in thumbnails.values()):
            wrong.append(f"job {job}: {path} has status {status}")
        # A few hundred requests a second of all together, which leave the machine to the workers.
        await asyncio.sleep(2 + random.random() * 8)
    connection[1].close()


async def forget(connection, job, way):
    selector = {"label": f"job:{job}"}
    if way == "uri":
        selector = {"uri": "cameo://thumb/" + thumbnails[job].split("/")[-1]}
    if way == "sql":
        statement = f"INSERT INTO forget(selector) VALUES ('{json.dumps(selector)}');"
        process = await asyncio.create_subprocess_exec(*sql, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL)
        await process.communicate(statement.encode())
        if process.returncode != 0:
            wrong.append(f"the statement for job {job} failed")
    else:
        status, _, content = await ask(connection, "POST", "/forget", json.dumps(selector).encode())
        if status != 200:
            wrong.append(f"forgetting job {job}: {status} {content.decode()}")
    gone.add(job)


async def main():
    connection = await asyncio.open_connection(url.hostname, url.port)
    clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]
    ways = ["label", "uri", "sql"]
    for job in range(JOBS):
        request = {
            "source": f"initials:AB?background=%23{job * 37:06x}", "labels": [f"job:{job}"],
            "renditions": [{"width": 64, "height": 64, "format": "png"}],
        }
        status, _, content = await ask(connection, "POST", "/jobs", json.dumps(request).encode())
        assert status in (201, 202), (status, content)
        thumbnails[job] = "/thumb/" + json.loads(content)["thumbnails"][0]["uri"].split("/")[-1]
        # One that has just been asked for, or some time ago.
        past = max(0, job - random.choice([0, 0, 1, 2, 5, 50])) // 2 * 2
        if past not in gone:
            await forget(connection, past, random.choice(ways))
    for job in range(0, JOBS, 2):
        if job not in gone:
            await forget(connection, job, random.choice(ways))
    last, quiet = None, 0
    while True:
        status, _, content = await ask(connection, "GET", "/status")
        jobs = json.loads(content)["jobs"]
        if status == 200 and sum(jobs.get(state, 0) for state in ("available", "running", "retryable", "scheduled")) == 0:
            break
        last, quiet = jobs, quiet + 1 if jobs == last else 0
        if quiet * 0.2 > PATIENCE:
            _, _, left = await ask(connection, "GET", "/jobs?limit=50")
            sys.exit(f"no job ends any more: {content.decode()} {left.decode()}")
        await asyncio.sleep(0.2)
    await asyncio.sleep(5)
    ended.set()
    await asyncio.gather(*clients)
    for job in range(JOBS):
        for path in [thumbnails[job]] + ([digests[job]] if job in digests else []):
            status, _, _ = await ask(connection, "GET", path)
            if status != (410 if job in gone else 200):
                wrong.append(f"job {job}: {path} has status {status} in the end")
    print(f"{JOBS} jobs, {len(gone)} forgotten, {served} served")
    if wrong:
        print(*wrong[:20], f"{len(wrong)} in all", sep="\n")
    sys.exit(1 if wrong else 0)


asyncio.run(main())
