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
