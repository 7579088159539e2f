internal import CameoModel
package import CameoStore

// DESIGN. Between a program's table and Cameo stands a mirror, `attached`: for each row of the table that has a picture, the
// source that it names, the job that was asked for it, and its thumbnails. Triggers on the program's table only hand over the key
// and the value; what becomes of them is written here once. Views read the mirror and never the table, so that no migration of
// the table is held up by one; and what the mirror knows of a failure outlives the job. A value that no request may have fails no
// statement: the mirror has no source for it and says why.

extension SchemaWords {
    /// What follows programs' tables.
    package var attachmentTables: String {
        """
        CREATE TABLE attachment(
          id \(number),
          -- By which it is detached; the label of its thumbnails.
          name \(name) NOT NULL UNIQUE,
          -- The table as statements name it, its schema and name, and its columns.
          target \(prose) NOT NULL,
          target_schema \(prose),
          target_name \(prose) NOT NULL,
          picture \(prose) NOT NULL,
          key_column \(prose) NOT NULL,
          label_column \(prose),
          kind \(prose) NOT NULL,
          -- Where relative values begin, and the same as a source has it.
          base \(prose) NOT NULL,
          root \(prose) NOT NULL,
          queue \(prose) NOT NULL,
          \(neededJSON("renditions")),
          -- Grows with each change of the renditions; rows of the mirror have the one that they were asked for.
          version \(big) NOT NULL DEFAULT 1,
          -- The last key of the rows that existed which was read; NULL: none yet. `filled`: all were.
          filled_to \(prose),
          -- The database of the table, if it is not this one; how often changes were moved from there, and when somebody looked.
          place \(prose),
          moves \(big) NOT NULL DEFAULT 0,
          looked_at \(big),
          \(truth("filled", orElse: " DEFAULT \(no)")),
          trouble \(prose)
        )\(strict);

        -- A row of a program's table that has a picture.
        CREATE TABLE attached(
          attachment \(big) NOT NULL,
          key \(name) NOT NULL,
          -- The key as a number, if it is one.
          number \(big),
          -- As the request has it; NULL: the value is none, and the message says why.
          source \(name),
          -- The number of bytes of a picture that the column itself has.
          size \(big),
          label \(prose),
          -- Another queue than the attachment's.
          queue \(prose),
          version \(big),
          job_id \(big),
          -- The ids of its thumbnails, one after another; NULL: not known yet.
          thumbnails \(prose),
          -- How the job failed, once it was removed.
          code \(prose),
          message \(prose),
          PRIMARY KEY (attachment, key)
        )\(byKey);
        CREATE UNIQUE INDEX attached_number ON attached(attachment, number);
        CREATE INDEX attached_source ON attached(\(indexedSource)) WHERE source IS NOT NULL;
        """
    }

    /// Why a value is no source, where `attachment` is a row and `size` the number of bytes of a picture; NULL if it is one.
    package func refusal(ofKey key: String, _ value: String, size: String) -> String {
        func begins(_ text: String) -> String { "lower(substr(\(value), 1, \(text.utf8.count))) = '\(text)'" }
        let words = "replace(replace(replace(\(value), '\\', '/'), '?', '/'), '#', '/')"
        let leaves = "('/' || \(words) || '/') LIKE '%/../%' OR lower(\(value)) LIKE '%\\%2e\\%2e%' ESCAPE '\\'"
        let isURL = "attachment.kind = 'url' AND (\(begins("http://")) OR \(begins("https://")))"
        let isPath = "attachment.kind = 'path' AND \(begins("/"))"
        let isOther = ["data:", "cameo:", "file:", "initials:"].map(begins).joined(separator: " OR ")
        return """
            CASE
              WHEN length(\(key)) > 100 THEN 'its key has more than 100 characters'
              WHEN \(hasControl(key)) THEN 'its key has a control character'
              WHEN attachment.kind = 'bytes' THEN CASE WHEN \(size) > 104857600 THEN 'it has more than 100 MiB' END
              WHEN \(hasControl(value)) THEN 'it has a control character'
              WHEN \(length(value)) > CASE WHEN \(isInline(value)) THEN 1000000 ELSE 2000 END THEN 'it is too long'
              WHEN attachment.kind = 'cameo' THEN CASE WHEN NOT (\(["thumb", "blob", "source"].map { begins("cameo://\($0)/") }
                .joined(separator: " OR "))) THEN 'it is no cameo: URI' END
              WHEN \(isInline(value)) THEN NULL
              WHEN (\(isURL)) OR (\(isPath)) THEN
                CASE WHEN substr(\(value), 1, length(attachment.base)) <> attachment.base OR attachment.base <> '' AND (\(leaves))
                  THEN 'it is not below ' || attachment.base END
              WHEN \(isOther) OR \(value) LIKE '%://%' OR attachment.base = '' THEN 'it is no '
                || CASE attachment.kind WHEN 'url' THEN 'http:, https:, data: or initials: URL' ELSE 'absolute path' END
              WHEN \(begins("/")) OR \(begins("\\")) OR \(leaves) THEN 'it is not below ' || attachment.base
            END
            """
    }

    /// The source that such a value names.
    package func source(ofKey key: String, _ value: String) -> String {
        """
        CASE
          WHEN attachment.kind = 'bytes' THEN 'cameo://source/attached-' || attachment.id || '-' || \(hex(key)) || '-' || \(fresh)
          WHEN attachment.kind = 'cameo' OR \(isInline(value)) THEN \(value)
          WHEN attachment.kind = 'path' AND substr(\(value), 1, 1) = '/' THEN 'file://' || \(encodedPath(value))
          WHEN attachment.kind = 'url' AND \(value) LIKE '%://%' THEN \(value)
          ELSE attachment.root || \(encodedPath(value)) END
        """
    }

    private func isInline(_ value: String) -> String {
        "(attachment.kind = 'url' AND (lower(substr(\(value), 1, 5)) = 'data:' OR lower(substr(\(value), 1, 9)) = 'initials:'))"
    }

    /// The request for a row of `attached`, `row`, and its row of `attachment`, with its source or without.
    package func request(of row: String, namingSource: Bool = true) -> String {
        let source = namingSource ? "'\"source\":' || \(quoted("\(row).source")) || ',' || " : ""
        let label = "\(row).label"
        return """
            '{' || \(source)'"queue":' || \(quoted("coalesce(\(row).queue, attachment.queue)")) || ',"labels":['
              || \(quoted("attachment.name")) || ',' || \(quoted("attachment.name || '/' || \(row).key"))
              || CASE WHEN \(length(label)) BETWEEN 1 AND 200 AND NOT \(hasControl(label)) THEN ',' || \(quoted(label)) ELSE '' END
              || '],"renditions":' || attachment.renditions || '}'
            """
    }

    /// Text without control characters as JSON.
    private func quoted(_ text: String) -> String {
        "'\"' || replace(replace(\(text), '\\', '\\\\'), '\"', '\\\"') || '\"'"
    }

    /// The selector of what is forgotten with a row of `attached`, `row`: its source, unless another row has it too; then only its
    /// label goes. An inline picture is known by its bytes, which only its label tells.
    package func selector(of row: String, name attachment: String) -> String {
        let label = "'{\"label\":' || \(quoted("\(attachment) || '/' || \(row).key"))"
        return """
            CASE
              WHEN EXISTS (SELECT 1 FROM attached AS other
                WHERE other.source IS NOT NULL AND \(isKey("other.source", "\(row).source"))) THEN \(label) || '}'
              WHEN lower(substr(\(row).source, 1, 5)) = 'data:' THEN \(label) || ',"evenShared":true}'
              ELSE '{"source":' || \(quoted("\(row).source")) || '}' END
            """
    }

    /// Removes the pictures that columns themselves had, whose names are selected, after a forget. Others may have the same bytes.
    package func removingUploads(_ names: String) -> [String] {
        let found = "FROM (\(names)) AS given JOIN source ON \(isKey("source.uri", "given.name")) AND source.scope = ''"
        return [
            """
            INSERT INTO forgotten(name, seen) SELECT DISTINCT source.blob, (SELECT max(seen) FROM forget) \(found) WHERE true
              ON CONFLICT (name) DO UPDATE SET seen = excluded.seen
            """,
            "INSERT INTO orphan SELECT DISTINCT source.blob, 0 \(found) WHERE true ON CONFLICT (digest) DO UPDATE SET since = 0",
            "DELETE FROM source WHERE \(rowOfSource) IN (SELECT \(rowOfSource.filter { !"()".contains($0) }) \(found))",
        ]
    }

    /// What a view of an attachment shows: the state of each row that has a picture, and its thumbnails. Where joins keep a
    /// database from looking for single rows of it, each column looks for its value.
    package func attachedView(
        of attachment: Attachment,
        in home: String,
        options: String,
        key: String,
        message: String
    ) -> String {
        var joins: [String] = []
        func table(_ name: String, as alias: String, _ condition: String) -> (String) -> String {
            guard joinsInViews else {
                return { column in "(SELECT \(column) FROM \(name) AS \(alias) WHERE \(condition))" }
            }
            joins.append("LEFT JOIN \(home)\(name) AS \(alias) ON \(condition)")
            return { column in "\(alias).\(column)" }
        }
        let task = table("task", as: "task", "task.id = attached.job_id")
        let outcome = table("outcome", as: "outcome", "outcome.id = attached.job_id")
        let pictures = attachment.renditions.enumerated().flatMap { place, rendition in
            let id = "substr(attached.thumbnails, \(32 * place + 1), 32)"
            let picture = table("shown_thumbnail", as: "picture\(place)", "picture\(place).id = \(id)")
            let blob = table("blob", as: "blob\(place)", "blob\(place).digest = \(picture("blob"))")
            return [
                ("uri", "'cameo://thumb/' || CASE WHEN attached.thumbnails <> '' THEN \(id) END"),
                ("width", picture("width")), ("height", picture("height")), ("type", blob("media_type")),
                ("bytes", blob("size")), ("placeholder", picture("thumb_hash")), ("color", picture("dominant_color")),
            ]
            .map { "\($0.1) AS \("\(Attachment.column(of: rendition))_\($0.0)".quotedName)" }
        }
        let states = JobState.allCases.map { "WHEN \($0.code) THEN '\($0.rawValue)'" }.joined(separator: " ")
        return """
            CREATE VIEW \(home)\(attachment.view.quotedName)\(options) AS
              SELECT \(key) AS \(attachment.key.quotedName),
                CASE WHEN attached.source IS NULL THEN 'invalid' ELSE
                  CASE coalesce(\(task("state")), \(outcome("state"))) \(states)
                  ELSE CASE WHEN attached.code IS NOT NULL THEN 'discarded' WHEN attached.thumbnails IS NULL THEN 'available'
                    ELSE 'completed' END END END AS state,
                coalesce(\(outcome("code")), attached.code, CASE WHEN attached.source IS NULL THEN 'invalid' END) AS failure_code,
                coalesce(\(outcome(message)), attached.message) AS failure_message, attached.job_id AS job_id,
                \(pictures.joined(separator: ",\n    "))
              FROM \(home)attached
                \(joins.joined(separator: "\n    "))
              WHERE attached.attachment = (SELECT id FROM \(home)attachment WHERE name = \(attachment.name.quotedText))
            """
    }
}
