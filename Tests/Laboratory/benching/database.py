"""A temporary PostgreSQL server that really syncs, and tables filled by SQL.

What fills tables is not part of the contract with producers: it writes rows that a million calls would have written."""
import contextlib
import pathlib
import tempfile

import lab

SETTINGS = {"listen_addresses": "", "max_connections": "200", "log_min_messages": "error"}


def request(name):
    rendition = '{"width": 256, "height": 256, "fit": "cover"}'
    return f'{{"source": "https://pictures.example/{name}.jpg", "renditions": [{rendition}]}}'


REQUEST = "'" + request("' || n || '") + "'"


def added(count, created_at):
    """The beginning of a statement that accepts so many jobs, in a store in which one was enqueued before."""
    return f"""
        SET synchronous_commit = off;
        WITH place AS (
          SELECT lane.id AS lane, queue.id AS queue FROM lane JOIN queue ON queue.id = lane.queue
          WHERE queue.name = 'default' AND lane.key = 0),
        added AS (
          INSERT INTO job(request, created_at)
          SELECT ({REQUEST})::json, {created_at} FROM generate_series(1, {count}) AS n
          RETURNING id, created_at),
        noted AS (
          INSERT INTO accepted(id, queue, unique_key, thumbnails)
          SELECT id, queue, md5(id::text), ('[{{"id":"' || md5('t' || id) || '","name":"256x256"}}]')::json
          FROM added, place),
    """


class Server(lab.PostgreSQL):
    @classmethod
    @contextlib.contextmanager
    def temporary(cls):
        with tempfile.TemporaryDirectory(prefix="cameo-bench-", ignore_cleanup_errors=True) as folder:
            server = cls(folder, SETTINGS)
            try:
                server.initialize()
                server.start()
                yield server
            finally:
                server.stop()

    def store(self, schema):
        return f"postgres://cameo@/postgres?host={self.folder}&schema={schema}"

    def number(self, question, schema="public"):
        return int(self.ask(question, schema))

    def insert_rate(self, schema, clients, seconds):
        """Single INSERTs a second by so many clients of pgbench, each committed."""
        script = pathlib.Path(self.folder, "insert.sql")
        insert = f"INSERT INTO {schema}.job(request) VALUES ('{request(':n')}')"
        script.write_text(f"\\set n random(1, 1000000000)\n{insert};\n")
        script.chmod(0o644)
        words = ["-n", "-c", clients, "-j", min(clients, 2), "-T", seconds, "-f", script, *self.place, "-U", "cameo"]
        printed = self.run("pgbench", *words, "postgres")
        return round(next(float(line.split()[2]) for line in printed.splitlines() if line.startswith("tps =")), 1)

    def fill_waiting(self, schema, count):
        """Adds jobs that wait in the default queue."""
        self.ask(f"""
            {added(count, "now_ms()")}
            counted AS (INSERT INTO queue_delta(queue, available) SELECT queue, {count} FROM place)
            INSERT INTO task(id, queue, key, lane, state, priority, due, rank, max_attempts, unique_key)
            SELECT id, queue, 0, lane, 1, 0, created_at, created_at << 14 | id & 16383, 5, md5(id::text)
            FROM added, place
        """, schema)

    def fill_ended(self, schema, count, page=500_000):
        """Adds jobs that were completed within the last hours, and a change of each."""
        for start in range(0, count, page):
            size = min(page, count - start)
            self.ask(f"""
                {added(size, "now_ms() - 7200000 + n")}
                ended AS (
                  INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
                    attempted_at, finalized_at, number, worker, wait_ms, fetch_ms, queue_ms, render_ms, store_ms,
                    source_bytes, output_bytes)
                  SELECT id, 4, queue, 0, created_at, 1, 5, 0, created_at + 40, created_at + 240, 1,
                    'host-1-4711-a1b2c3', 0, 80, 5, 60, 12, 350000, 15000 FROM added, place),
                counted AS (
                  INSERT INTO queue_delta(queue, completed, ever_completed) SELECT queue, {size}, {size} FROM place),
                numbered AS (SELECT last FROM feed),
                moved AS (UPDATE feed SET last = feed.last + {size} RETURNING feed.last)
                INSERT INTO change(last, jobs, states, at)
                SELECT numbered.last + number, ARRAY[id], ARRAY[4], at FROM (
                  SELECT row_number() OVER (ORDER BY id) AS number, id, created_at + 240 AS at FROM added) AS one,
                  numbered
            """, schema)
        self.ask("VACUUM ANALYZE job, accepted, outcome, change", schema)

    def fill_thumbnails(self, schema, count, page=100_000):
        """Adds thumbnails whose bytes are elsewhere. Their ids are digests, as real ones are: indexes fill at
        random."""
        for start in range(0, count, page):
            self.ask(f"""
                SET synchronous_commit = off;
                INSERT INTO blob(digest, size, media_type, created_at)
                SELECT encode(sha256(('b' || n)::bytea), 'hex'), 15000, 'image/webp', now_ms()
                FROM generate_series({start + 1}, {start + page}) AS n;
                INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, source_seen,
                  renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
                  dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
                  source_is_animated, is_truncated)
                SELECT md5('t' || n), encode(sha256(('b' || n)::bytea), 'hex'), 256, 256, 'webp',
                  'https://pictures.example/albums/2026/' || n || '.jpg', '{{"width":256,"height":256,"fit":"cover"}}',
                  encode(sha256(('s' || n)::bytea), 'hex'), n, '8.14.1-1', n, now_ms(), now_ms(), false, 1,
                  '1QcSHQRnh493V4dIh4eXh1h4kJUI', 'LEHV6nWB2yk8pyo0adR*.7kCMdnj', '#a1b2c3', 'jpeg', 4000, 3000, 1,
                  false, false, false
                FROM generate_series({start + 1}, {start + page}) AS n
            """, schema)
        self.ask("VACUUM ANALYZE blob, thumbnail", schema)

    def sizes(self, schema, tables):
        """{table: {rows, heap, indexes}} in bytes, the partitions of each together."""
        answer = {}
        for table in tables:
            sizes = self.rows(f"""
                SELECT (SELECT count(*) FROM {table}), sum(pg_table_size(relid)), sum(pg_indexes_size(relid))
                FROM (SELECT relid FROM pg_partition_tree('{table}') UNION SELECT '{table}'::regclass) AS parts
            """, schema)[0]
            answer[table] = dict(zip(("rows", "heap", "indexes"), map(int, sizes)))
        return answer
