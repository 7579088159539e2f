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
