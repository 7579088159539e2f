internal import CameoStore

/// The tables, their versions, and the migrations between versions.
///
/// A version of Cameo whose requests have new fields also needs a script, even an empty one: a worker that does not
/// know a field discards its job, so older workers must stop claiming (``WritePhase``).
enum Schema {
    /// One script per version, oldest first. A published script is never edited; a new one is appended.
    private static let scripts = [
        [
            functions, producerTables, queueTables, history, changes, pictures, totals, hooks, upkeep, views, claims,
            ownersFunctions,
        ]
        .joined(separator: "\n"),
        lacks, protection,
    ]

    static var currentVersion: Int { scripts.count }

    /// Why this program must start nothing more in tables of a version; nil if it may.
    static func refusal(of version: Int, _ url: DatabaseURL) -> StoreError? {
        version > currentVersion
            ? .newerSchema(path: url.location, found: version, supported: currentVersion) : nil
    }

    /// The version of the tables; nil if there are none.
    ///
    /// - Throws: ``StoreError/notAStore(path:)`` if the schema has other tables; ``StoreError/newerSchema(path:found:supported:)``
    static func version(_ connection: Connection, _ url: DatabaseURL) throws -> Int? {
        let look = """
            SELECT to_regclass('\(url.schema).schema_version') IS NOT NULL,
              EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE nspname = '\(url.schema)')
            """
        guard let row = try connection.run(look).rows.first else { return nil }
        guard try row[0] else {
            guard try !row[1] else { throw StoreError.notAStore(path: url.location) }
            return nil
        }
        guard let stored = try connection.run("SELECT version FROM \(url.schema).schema_version").rows.first else {
            throw StoreError.notAStore(path: url.location)
        }
        let version: Int = try stored[0]
        if let refusal = refusal(of: version, url) { throw refusal }
        return version
    }

    /// Creates or migrates the tables, in tests to an older version. Of several processes one does it, and the others wait for
    /// it.
    static func setUp(_ connection: Connection, _ url: DatabaseURL, to wanted: Int = currentVersion) throws {
        guard try version(connection, url) != wanted else { return }
        do {
            try connection.run(
                script: """
                    BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
                    SELECT pg_advisory_xact_lock(\(AdvisoryLock.schema.arguments(schema: url.schema)));
                    """
            )
            let found = try version(connection, url)
            // Another process has just done it.
            guard found != wanted else {
                try connection.run("COMMIT")
                return
            }
            if found == nil { try create(connection, url) }
            for script in scripts[..<wanted].dropFirst(found ?? 0) {
                try connection.run(script: "SET LOCAL search_path TO \(url.schema), pg_temp;\n\(script)")
            }
            try connection.run("UPDATE \(url.schema).schema_version SET version = $1", [wanted])
            try connection.run("COMMIT")
        } catch {
            if connection.isUsable { try connection.run("ROLLBACK") }
            throw error
        }
    }

    private static func create(_ connection: Connection, _ url: DatabaseURL) throws {
        // "IF NOT EXISTS" needs the right to create schemas even if it exists.
        let schemas = try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = $1", [url.schema])
        if schemas.rows.isEmpty { try connection.run("CREATE SCHEMA \(url.schema)") }
        try connection.run(
            script: """
                CREATE TABLE \(url.schema).schema_version(
                  version integer NOT NULL,
                  -- Another store in the same place has another.
                  identity text NOT NULL DEFAULT gen_random_uuid()::text,
                  -- Where the bytes of large blobs are; null: in their rows.
                  bytes_place text,
                  one boolean PRIMARY KEY DEFAULT true CHECK (one)
                );
                INSERT INTO \(url.schema).schema_version(version) VALUES (0);
                """
        )
    }
}

extension Schema {
    /// The feed of changes; see ``ChangeFeed``.
    static let changes = """
        -- The changes of a transaction, until they are numbered: a row for each would cost as much as the outcome. Each
        -- row lives for about a second, so that autovacuum runs early, and compression would be in vain.
        CREATE TABLE new_change(
          entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          jobs bigint[] NOT NULL,
          states smallint[] NOT NULL CHECK (0 <= ALL (states) AND 6 >= ALL (states)),
          at bigint NOT NULL,
          CONSTRAINT "a change has a job and a state" CHECK (cardinality(jobs) = cardinality(states))
        ) WITH (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
          autovacuum_vacuum_cost_delay = 0);
        ALTER TABLE new_change ALTER COLUMN jobs SET STORAGE EXTERNAL, ALTER COLUMN states SET STORAGE EXTERNAL;

        -- Every change of a job's state, in commit order. Changes have numbers without gaps; a row has those of one
        -- transaction, up to the number `last`.
        CREATE TABLE change(
          last bigint PRIMARY KEY,
          jobs bigint[] NOT NULL,
          states smallint[] NOT NULL CHECK (0 <= ALL (states) AND 6 >= ALL (states)),
          at bigint NOT NULL,
          CONSTRAINT "a change has a job and a state" CHECK (cardinality(jobs) = cardinality(states))
        );
        -- The changes after a number, at most so many. No row after the one that has the last of them is read.
        CREATE FUNCTION changes_since(number bigint, many bigint)
          RETURNS TABLE (seq bigint, job_id bigint, state smallint, at bigint) LANGUAGE sql STABLE
        AS $$
          WITH first AS (
            SELECT greatest(number, last - cardinality(jobs)) AS before FROM change WHERE last > number
            ORDER BY last LIMIT 1)
          SELECT last - cardinality(jobs) + place, job, state, at
          FROM change CROSS JOIN unnest(jobs, states) WITH ORDINALITY AS one(job, state, place)
          WHERE last > number AND last - cardinality(jobs) + place > number
            AND last <= coalesce((
              SELECT final.last FROM change AS final
              WHERE final.last >= (SELECT before FROM first) + least(many, 1000000000) ORDER BY final.last LIMIT 1),
              9223372036854775807)
          ORDER BY 1 LIMIT many
        $$;
        CREATE TABLE feed(
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          -- The number of the last change.
          last bigint NOT NULL DEFAULT 0,
          -- All entries up to this one are numbered or were rolled back.
          low bigint NOT NULL DEFAULT 0,
          -- What `low` will be once all transactions before the one of this number have ended.
          next_low bigint NOT NULL DEFAULT 0,
          next_xid xid8 NOT NULL DEFAULT '0'
        ) WITH (fillfactor = 50);
        INSERT INTO feed DEFAULT VALUES;
        """
}

extension Schema {
    /// What the tables' defaults, checks and triggers call. Producers call them too, so they name their schema.
    static let functions = """
        CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS
          $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

        -- A field of a request; NULL if it is not text, or not text that a database can hold ("\\u0000").
        CREATE FUNCTION field(request json, name text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN json_typeof(request -> name) = 'string' THEN request ->> name END;
          EXCEPTION WHEN data_exception THEN RETURN NULL;
          END $$;

        -- The same for a number.
        CREATE FUNCTION number_field(request json, name text) RETURNS integer LANGUAGE plpgsql IMMUTABLE
          PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN json_typeof(request -> name) = 'number' THEN trunc((request ->> name)::numeric) END;
          EXCEPTION WHEN data_exception THEN RETURN NULL;
          END $$;

        -- The same for a time, in milliseconds since 1970.
        CREATE FUNCTION time_field(request json, name text) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL UNSAFE AS $$
          BEGIN
            RETURN CASE WHEN json_typeof(request -> name) = 'string'
              THEN round(extract(epoch FROM (request ->> name)::timestamptz) * 1000) END;
          EXCEPTION WHEN data_exception THEN RETURN NULL;
          END $$;

        -- For indexes of texts that may be longer than an entry of an index. UTF-8 is the encoding of the database.
        CREATE FUNCTION text_digest(whole text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
          $$ SELECT sha256(decode(replace(whole, '\', '\\'), 'escape')) $$;

        -- A time as text, as in Cameo's JSON.
        CREATE FUNCTION time_text(milliseconds bigint) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
          SELECT to_char(to_timestamp(milliseconds / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
        """
}

extension Schema {
    // DESIGN. Most jobs name no hook, and those have no row here: `task.hooked` tells. What a hooked job names is in
    // `job_hook`; its end adds a row to `delivery` for each hook, in the transaction of the end, so that no crash comes
    // between the two. A delivery is claimed and fenced as a job is: by a worker that is alive, and by the number of
    // the try.

    /// Hooks and their deliveries.
    static let hooks = """
        CREATE TABLE job_hook(
          job_id bigint NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook text COLLATE "C" NOT NULL,
          -- The job whose request named the hook: this one, or one that it superseded.
          named_by bigint NOT NULL,
          PRIMARY KEY (job_id, hook, named_by)
        );

        CREATE TABLE delivery(
          seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          -- By which a receiver recognizes a delivery that it has already had.
          id text COLLATE "C" NOT NULL UNIQUE DEFAULT replace(gen_random_uuid()::text, '-', ''),
          job_id bigint NOT NULL REFERENCES job(id) ON DELETE CASCADE,
          hook text COLLATE "C" NOT NULL,
          -- How the job ended. The job's own rows change if it is retried.
          state smallint NOT NULL CHECK (state BETWEEN 4 AND 6),
          ended_at bigint NOT NULL,
          failure json,
          -- 0 waiting, 1 running, 2 delivered, 3 given up.
          status smallint NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 3),
          -- When it is due or, once delivered or given up, when that was.
          at bigint NOT NULL,
          -- From when its age counts: the end of the job, or an operator's retry.
          since bigint NOT NULL,
          tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
          -- Failed tries in a row, which decide the delay before the next.
          failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
          worker text COLLATE "C",
          -- Why the last try failed.
          trouble text,
          CONSTRAINT "a running delivery must have a worker" CHECK ((status = 1) = (worker IS NOT NULL))
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
        -- Claim: what is due for a hook; reports: counts.
        CREATE INDEX delivery_due ON delivery(hook, status, at);
        -- Rescue: the deliveries of a worker.
        CREATE INDEX delivery_worker ON delivery(worker) WHERE worker IS NOT NULL;
        CREATE INDEX delivery_job ON delivery(job_id);

        -- The hooks that a worker can deliver to.
        CREATE TABLE worker_hook(
          worker text COLLATE "C" NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
          hook text COLLATE "C" NOT NULL,
          PRIMARY KEY (worker, hook)
        );
        """
}

extension Schema {
    static let upkeep = """
        -- The maintenance lock: who holds it, and until when. A process that died loses it then.
        CREATE TABLE maintenance(
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          holder text,
          lease_until bigint NOT NULL DEFAULT 0
        );
        INSERT INTO maintenance DEFAULT VALUES;

        -- The beginnings of downloads that broke off.
        CREATE UNLOGGED TABLE partial(
          -- The SHA-256 of the URI.
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          -- What is known of the response, in JSON.
          head text NOT NULL,
          size bigint NOT NULL CHECK (size >= 0),
          at bigint NOT NULL,
          PRIMARY KEY (uri, scope)
        );
        CREATE UNLOGGED TABLE partial_piece(
          uri text COLLATE "C" NOT NULL,
          scope text COLLATE "C" NOT NULL,
          number integer NOT NULL,
          bytes bytea NOT NULL,
          PRIMARY KEY (uri, scope, number),
          FOREIGN KEY (uri, scope) REFERENCES partial ON DELETE CASCADE
        );
        -- Pictures are compressed already.
        ALTER TABLE partial_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
        """
}
