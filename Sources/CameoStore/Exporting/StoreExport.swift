internal import CameoModel
internal import CameoSystem
package import Foundation
internal import Synchronization

// DESIGN. An export is a stream: a line of JSON that says what it is; one line for each record, an array of the kind and its
// values; a last line with the number and digest of the records of each kind, and the SHA-256 of all bytes before it. Bytes
// (of blobs and uploads) follow the line that has `{"bytes": N}` in their place, in order, with a newline after each. So the
// stream needs no seeking and no memory, passes through pipes, compression and ssh, and outlives both engines' files. Numbers
// are those of the tables: ids, milliseconds since 1970.
//
// Jobs that run wait in the export, and their last attempt does not count: their worker is not part of it.

package enum ExportStream {
    static let version: Int64 = 1
    static let format = "cameo-export"
    /// The longest line in bytes. A request has at most a few mebibytes.
    static let longestLine = 32 * 1_048_576
    /// The most bytes beside a line at one time.
    static let mostBytes = 4 * 1_073_741_824
}

/// What an export or import has done so far, or altogether.
package struct ExportSummary: Sendable {
    package var sums: [RecordKind: RecordSum] = [:]
    /// Bytes of blobs.
    package var bytes = 0
    /// The kind that was read last.
    package var kind = RecordKind.number

    package var records: Int { sums.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ page: [StoreRecord], of kind: RecordKind) {
        self.kind = kind
        for record in page {
            sums[kind, default: RecordSum()].add(record)
            bytes += record.bytes?.count ?? 0
        }
    }
}

/// Writes a store as a stream.
package struct StoreExport: Sendable {
    private let store: any ExportableStore

    package init(of store: any ExportableStore) { self.store = store }

    /// Passes the stream to `output` piece by piece, with `now` as its time. `report` is called after each page.
    package func write(
        at now: Date,
        to output: @escaping @Sendable (Data) throws -> Void,
        report: @escaping @Sendable (ExportSummary) -> Void
    ) async throws(StoreError) -> ExportSummary {
        let writer = Mutex(Writer(output: output))
        let header: JSONValue = [
            "format": .string(ExportStream.format), "version": .integer(ExportStream.version),
            "store": .string(store.location), "exportedAt": .string(WireFormat.text(of: now)),
        ]
        do {
            try writer.withLock { try $0.line(header) }
        } catch {
            throw .failed("\(error)")
        }
        try await store.export(includingBytes: true) { kind, page in
            let summary = try writer.withLock { writer in
                try writer.write(page.compactMap { $0.atRest(kind) }, of: kind)
                return writer.summary
            }
            report(summary)
        }
        do {
            return try writer.withLock { try $0.end() }
        } catch {
            throw .failed("\(error)")
        }
    }

    private struct Writer: ~Copyable {
        let output: @Sendable (Data) throws -> Void
        var hash = SHA256()
        var summary = ExportSummary()

        init(output: @escaping @Sendable (Data) throws -> Void) { self.output = output }

        mutating func line(_ value: JSONValue) throws { try put(Data(value.canonicalBytes + [UInt8(ascii: "\n")])) }

        mutating func put(_ data: Data) throws {
            data.withUnsafeBytes { hash.update($0) }
            try output(data)
        }

        mutating func write(_ page: [StoreRecord], of kind: RecordKind) throws {
            var text = Data()
            for record in page {
                var beside: [Data] = []
                var members: [JSONValue] = [.string(kind.rawValue)]
                for value in record.values + (record.bytes.map { [.bytes($0)] } ?? []) {
                    members.append(value.json(beside: &beside))
                }
                text.append(contentsOf: JSONValue.array(members).canonicalBytes)
                text.append(UInt8(ascii: "\n"))
                for bytes in beside {
                    text.append(bytes)
                    text.append(UInt8(ascii: "\n"))
                }
                if text.count > RecordKind.pageSize {
                    try put(text)
                    text = Data()
                }
            }
            try put(text)
            summary.add(page, of: kind)
        }

        mutating func end() throws -> ExportSummary {
            let digest = hash.takeDigest()
            let records = summary.sums.map {
                ($0.rawValue, JSONValue.array([.integer(Int64($1.count)), .string($1.digest)]))
            }
            let end: JSONValue = [
                "end": .string(ExportStream.format), "sha256": .string(digest),
                "records": .object(Dictionary(uniqueKeysWithValues: records)),
            ]
            try output(Data(end.canonicalBytes + [UInt8(ascii: "\n")]))
            return summary
        }
    }
}

extension SHA256 {
    /// The digest of what was hashed; begins anew.
    mutating func takeDigest() -> String {
        var last = SHA256()
        swap(&last, &self)
        return last.finalize().hex
    }
}

extension StoreRecord {
    /// The record as it is when nobody works: a running job waits, and its attempt does not count. Nil for the attempt.
    fileprivate func atRest(_ kind: RecordKind) -> StoreRecord? {
        var record = self
        switch kind {
        case .task where record["state", of: kind] == .integer(2):
            record["state", of: kind] = .integer(1)
            if case .integer(let attempt) = record["attempt", of: kind] {
                record["attempt", of: kind] = .integer(max(1, attempt) - 1)
            }
        case .attempt where record["finished_at", of: kind] == .null: return nil
        case .delivery where record["status", of: kind] == .integer(1),
            .batchSeal where record["status", of: kind] == .integer(1):
            record["status", of: kind] = .integer(0)
        default: break
        }
        return record
    }
}

extension StoreValue {
    fileprivate func json(beside: inout [Data]) -> JSONValue {
        switch self {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .real(let number): return .number(number)
        case .text(let text): return .string(text)
        case .bytes(let data):
            beside.append(data)
            return ["bytes": .integer(Int64(data.count))]
        }
    }
}
