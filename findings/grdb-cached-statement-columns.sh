#!/usr/bin/env bash
# GRDB.swift 7.10.0 reads values under the names of other columns from a cached statement once another connection has changed
# the table.
#
# SQLite compiles a prepared statement anew when the schema has changed (sqlite3_prepare_v2), so that `SELECT *` has the columns
# of the table as it is then. GRDB keeps the names that it read before for as long as it keeps the statement. After another
# program has dropped a column and added one, a height is read as the width, without an error. A statement that is not cached
# has the right names.
#
# Needs Swift 6 and libsqlite3-dev; the first run builds GRDB. Prints what each reads, and fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p Sources/case
cat >Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "case",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")],
    targets: [.executableTarget(name: "case", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])]
)
SWIFT
cat >Sources/case/main.swift <<'SWIFT'
import GRDB

let reader = try DatabaseQueue(path: "case.sqlite")
let other = try DatabaseQueue(path: "case.sqlite")
try other.write { db in
    try db.execute(sql: "CREATE TABLE picture(id, width, height); INSERT INTO picture VALUES (1, 640, 480)")
}

func show(_ what: String) throws {
    try reader.read { db in
        let cached = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM picture"))
        let fresh = try Row.fetchOne(db, sql: "SELECT * FROM picture")
        for (name, row) in [("cached", cached), ("fresh", fresh)] {
            let values = row.map { row in row.map { "\($0.0)=\($0.1)" }.joined(separator: " ") } ?? "no row"
            print("\(what), \(name): \(values)")
        }
    }
}

try show("at first")
try other.write { db in
    try db.execute(sql: "ALTER TABLE picture DROP COLUMN width; ALTER TABLE picture ADD COLUMN depth DEFAULT 24")
}
try show("then")
SWIFT
swift build -q
output=$(.build/debug/case)
echo "$output"
[ "$output" = "at first, cached: id=1 width=640 height=480
at first, fresh: id=1 width=640 height=480
then, cached: id=1 width=480 height=24
then, fresh: id=1 height=480 depth=24" ]
