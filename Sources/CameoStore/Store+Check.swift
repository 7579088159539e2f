internal import CameoModel
internal import Foundation
internal import GRDB

/// One thing that a check looked at.
package struct CheckFinding: Hashable, Codable, Sendable {
    /// How bad it is.
    package enum Severity: String, Codable, Sendable {
        case ok, warning, error
    }

    /// What was looked at, as `blobs`.
    package let subject: String
    package let severity: Severity
    /// What was found and, unless all is well, how to mend it.
    package let message: String
}

extension Store {
    /// Looks for everything that should be impossible, and for what this machine lacks. Reads every blob.
    package func check() async throws(StoreError) -> [CheckFinding] {
        var findings = try await read { db in
            [
                try Self.sqliteVersion(db), try Self.integrity(db), try Self.foreignKeys(db), try Self.counters(db),
                try Self.sourceCounters(db),
                try Self.unfinishedAttempts(db),
            ]
        }
        findings.append(try await blobs())
        findings.append(try await deadWorkers())
        return findings
    }

    private static func finding(
        _ subject: String,
        _ problems: [String],
        ok: String,
        mend: String,
        severity: CheckFinding.Severity = .error
    ) -> CheckFinding {
        guard let first = problems.first else { return CheckFinding(subject: subject, severity: .ok, message: ok) }
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        return CheckFinding(subject: subject, severity: severity, message: "\(first)\(more). \(mend)")
    }

    private static func sqliteVersion(_ db: Database) throws -> CheckFinding {
        let version = try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "of unknown version"
        let parts = version.split(separator: ".").compactMap { Int($0) }
        let isFixed = !parts.lexicographicallyPrecedes([3, 51, 3])
        let message =
            isFixed
            ? "SQLite \(version)"
            : "SQLite \(version) has the WAL-reset bug (fixed in 3.51.3). Cameo's processes avoid it by letting one of them "
                + "checkpoint at a time; other programs that write to the store must set PRAGMA wal_autocheckpoint=0"
        return CheckFinding(subject: "sqlite", severity: .ok, message: message)
    }

    private static func integrity(_ db: Database) throws -> CheckFinding {
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(10)").filter { $0 != "ok" }
        return finding(
            "database",
            problems,
            ok: "its pages and indexes are sound",
            mend: "Restore a backup, or recover what can be read with `sqlite3 cameo.sqlite .recover`"
        )
    }

    private static func foreignKeys(_ db: Database) throws -> CheckFinding {
        let rows = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
        return finding(
            "references",
            rows.map { "a row of \($0[0] as String) refers to a row of \($0[2] as String) that is not there" },
            ok: "every thumbnail and every cached original has its blob, every attempt its job",
            mend: "Retry the jobs whose thumbnails are missing; cameo-admin forget removes a cached original"
        )
    }

    private static func counters(_ db: Database) throws -> CheckFinding {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT queue, state, sum(counted) AS counted, sum(actual) AS actual FROM (
                  SELECT queue, state, count AS counted, 0 AS actual FROM job_count
                  UNION ALL SELECT queue, state, 0, count(*) FROM job GROUP BY queue, state)
                GROUP BY queue, state HAVING sum(counted) <> sum(actual)
                """
        )
        return finding(
            "counters",
            rows.map { row in
                "queue \(row["queue"] as String) counts \(row["counted"] as Int) \(row["state"] as String) jobs "
                    + "and has \(row["actual"] as Int)"
            },
            ok: "they agree with the jobs",
            mend: "Another program changed the tables without their triggers"
        )
    }

    private static func sourceCounters(_ db: Database) throws -> CheckFinding {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT total.name, value, actual FROM total JOIN (
                  SELECT 'sources' AS name, count(*) AS actual FROM source WHERE pinned = 0
                  UNION ALL SELECT 'source_bytes', coalesce(sum(size), 0) FROM source WHERE pinned = 0
                ) AS counted ON counted.name = total.name
                WHERE value <> actual
                """
        )
        return finding(
            "source cache",
            rows.map {
                "the counter \($0["name"] as String) says \($0["value"] as Int), and is \($0["actual"] as Int)"
            },
            ok: "its counters agree with what it holds",
            mend: "Another program changed the tables without their triggers"
        )
    }

    private static func unfinishedAttempts(_ db: Database) throws -> CheckFinding {
        let ids = try Int64.fetchAll(
            db,
            sql: """
                SELECT job_id FROM attempt WHERE outcome = 'running'
                  AND claim_token NOT IN (SELECT claim_token FROM job WHERE state = 'running')
                UNION SELECT id FROM job WHERE state = 'running'
                  AND claim_token NOT IN (SELECT claim_token FROM attempt WHERE outcome = 'running')
                UNION SELECT id FROM job WHERE state = 'running' AND worker NOT IN (SELECT id FROM worker)
                """
        )
        return finding(
            "attempts",
            ids.map { "job \($0) and its attempt disagree on whether it runs" },
            ok: "every running job has one open attempt and a worker",
            mend: "Another program changed the tables; cancel and retry the job"
        )
    }

    private func blobs() async throws(StoreError) -> CheckFinding {
        var problems: [String] = []
        var (count, last) = (0, "")
        while true {
            let after = last
            let page = try await read { db in
                try String.fetchAll(
                    db,
                    sql: "SELECT digest FROM blob WHERE digest > ? ORDER BY digest LIMIT 500",
                    arguments: [after]
                )
            }
            guard let end = page.last else { break }
            last = end
            count += page.count
            for hex in page {
                guard let digest = BlobDigest(hex: hex) else { problems.append("blob \(hex) has no digest"); continue }
                do throws(StoreError) {
                    _ = try await data(of: digest)
                } catch {
                    guard case .damagedBlob = error else { throw error }
                    problems.append("\(digest) is missing or damaged")
                }
            }
        }
        return Self.finding(
            "blobs",
            problems,
            ok: "all \(count) have the bytes that their digests name",
            mend: "They are never served; retry the jobs that made them"
        )
    }

    private func deadWorkers() async throws(StoreError) -> CheckFinding {
        let dead = try await status().workers.filter { !$0.isAlive }
        return Self.finding(
            "workers",
            dead.map { "worker \($0.id) died and left \($0.running) running jobs" },
            ok: "no dead worker holds jobs",
            mend: "The next worker that starts takes them back at once",
            severity: .warning
        )
    }
}
