internal import CameoQueue
internal import CameoStore

/// The tables, their versions, and the migrations between versions.
///
/// A version of Cameo whose requests have new fields also needs a script, even an empty one: a worker that does not
/// know a field discards its job, so older workers must stop claiming (``WritePhase``).
enum Schema {
    /// One script per version, oldest first. A published script is never edited; a new one is appended.
    static let scripts = [
        [
            functions, producerTables, queueTables, history, changes, pictures, totals, PostgreSQLWords().hookTables,
            upkeep, views, claims,
            ownersFunctions,
        ]
        .joined(separator: "\n"),
        lacks, protection, arrivals, PostgreSQLWords().removedJobs, shownRequests, omissions, boundCalls, removals,
        unbrokenFeed, library, [forgetsBeside, attachments, sealedBatches].joined(separator: "\n"),
        [costs, shares].joined(separator: "\n"),
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
            SELECT to_regclass('\(url.quoted).schema_version') IS NOT NULL AS is_there,
              EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE nspname = '\(url.schema)') AS is_used
            """
        guard let row = try connection.run(look).rows.first else { return nil }
        guard try row["is_there"] else {
            guard try !row["is_used"] else { throw StoreError.notAStore(path: url.location) }
            return nil
        }
        guard let stored = try connection.run("SELECT version FROM \(url.quoted).schema_version").rows.first else {
            throw StoreError.notAStore(path: url.location)
        }
        let version: Int = try stored[0]
        if let refusal = refusal(of: version, url) { throw refusal }
        // Functions keep the search path that they were made with, and its quotes.
        let home = """
            SELECT split_part(setting, '=', 2) FROM pg_proc CROSS JOIN unnest(proconfig) AS setting
            WHERE pronamespace = '\(url.quoted)'::regnamespace AND setting LIKE 'search_path=%'
              AND replace(setting, '"', '') <> 'search_path=\(url.schema), pg_temp' LIMIT 1
            """
        if let other: String = try connection.run(home).rows.first?[0] {
            throw StoreError.cannotOpen(
                path: url.location,
                reason: "its schema was renamed or copied, and its functions still work in that of \(other): rename it "
                    + "back, or let them follow (From one to many, Another schema)"
            )
        }
        return version
    }

    /// Creates or migrates the tables, in tests to an older version. Of several processes one does it, and the others wait for
    /// it, but for no lock longer than `patience`, in milliseconds: strangers may have taken it.
    static func setUp(
        _ connection: Connection,
        _ url: DatabaseURL,
        to wanted: Int = currentVersion,
        patience: Int = 30_000
    ) throws {
        guard try version(connection, url) != wanted else { return }
        do {
            try connection.run(
                script: """
                    BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
                    SET LOCAL standard_conforming_strings = on;
                    SET LOCAL quote_all_identifiers = off;
                    SET LOCAL statement_timeout = 0;
                    SET LOCAL lock_timeout = \(patience);
                    SELECT set_config('transaction_timeout', '0', true)
                      WHERE current_setting('transaction_timeout', true) IS NOT NULL;
                    SELECT pg_advisory_xact_lock(\(AdvisoryLock.tables(of: url.schema)));
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
                try connection.run(script: "SET LOCAL search_path TO \(url.quoted), pg_temp;\n\(script)")
            }
            try connection.run("UPDATE \(url.quoted).schema_version SET version = $1", [wanted])
            try connection.run("COMMIT")
        } catch {
            if connection.isUsable { try connection.run("ROLLBACK") }
            throw error
        }
    }

    /// What is wrong with a role that has the schema's name and may make tables there: by its usual search path, those of other
    /// programs land among Cameo's, and go with them.
    static func namesake(_ connection: Connection, _ url: DatabaseURL) throws -> String? {
        let look = """
            SELECT format('the role %s has the name of the schema, where what it creates without naming a schema lands: '
              'ALTER ROLE %1$I SET search_path TO public', rolname)
            FROM pg_roles
            WHERE rolname = '\(url.schema)' AND has_schema_privilege(oid, '\(url.schema)', 'CREATE') AND NOT EXISTS (
              SELECT 1 FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
              WHERE setrole = pg_roles.oid AND setting LIKE 'search_path=%' AND setting NOT LIKE '%$user%')
            """
        return try connection.run(look).rows.first?[0]
    }

    /// The names of Cameo's tables and views, without partitions.
    static let ownNames = Set(
        scripts.flatMap { $0.matches(of: /CREATE (?:OR REPLACE |UNLOGGED )?(?:TABLE|VIEW) (\w+)/).map { String($0.1) } }
            + ["schema_version"]
    )

    private static func create(_ connection: Connection, _ url: DatabaseURL) throws {
        // "IF NOT EXISTS" needs the right to create schemas even if it exists.
        let schemas = try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = $1", [url.schema])
        if schemas.rows.isEmpty { try connection.run("CREATE SCHEMA \(url.quoted)") }
        try connection.run(
            script: """
                CREATE TABLE \(url.quoted).schema_version(
                  version integer NOT NULL,
                  -- Another store in the same place has another.
                  identity text NOT NULL DEFAULT gen_random_uuid()::text,
                  -- Where the bytes of large blobs are; null: in their rows.
                  bytes_place text,
                  one boolean PRIMARY KEY DEFAULT true CHECK (one)
                );
                INSERT INTO \(url.quoted).schema_version(version) VALUES (0);
                """
        )
    }
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
