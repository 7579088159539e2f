internal import CameoModel
internal import CameoSystem
package import Foundation
internal import Synchronization

/// Reads a stream into a store.
package struct StoreImport: ~Copyable {
    private let store: any ExportableStore
    private var reader: StreamReader

    /// `input` reads up to `count` bytes; none at the end.
    package init(into store: any ExportableStore, from input: @escaping (_ count: Int) throws -> Data) {
        self.store = store
        reader = StreamReader(input: input)
    }

    /// What a stream is and what came of it.
    package struct Result: Sendable {
        package let summary: ExportSummary
        /// Whether an earlier import of the same store went on.
        package let wasBegun: Bool
        /// The kinds of which the store now has other records than the stream.
        package let differences: [RecordKind]
    }

    /// Stores what is not there yet, in a store that may have other records if `isAddition`. What was stored when it is broken
    /// off stays, and is passed over the next time. `report` is called after each page.
    ///
    /// - Throws: ``StoreError/refused(reason:)`` if the stream is not an export, was altered, or ends too early; other
    ///   ``StoreError``s of the store.
    package mutating func run(
        isAddition: Bool,
        report: (ExportSummary) -> Void
    ) async throws(StoreError) -> Result {
        let mark = try header()
        let wasBegun = try await store.beginImport(of: mark, isAddition: isAddition)
        var (summary, page, size) = (ExportSummary(), [StoreRecord](), 0)
        while true {
            let line = try reader.line()
            if case .object(let end) = line {
                try await receive(page, &summary)
                try check(end, summary)
                break
            }
            let (kind, record) = try record(line)
            if kind != summary.kind || size > RecordKind.pageSize || page.count == kind.pageLength {
                try await receive(page, &summary)
                report(summary)
                (page, size) = ([], 0)
                summary.kind = kind
            }
            size += record.size
            page.append(record)
        }
        try reader.expectEnd()
        try await store.endImport(of: mark)
        return Result(
            summary: summary,
            wasBegun: wasBegun,
            differences: isAddition ? [] : try await differences(summary)
        )
    }

    private func receive(_ page: [StoreRecord], _ summary: inout ExportSummary) async throws(StoreError) {
        guard !page.isEmpty else { return }
        try await receive(page[...], of: summary.kind)
        summary.add(page, of: summary.kind)
    }

    /// Stores records, and names the one that cannot be stored.
    private func receive(_ records: ArraySlice<StoreRecord>, of kind: RecordKind) async throws(StoreError) {
        do throws(StoreError) {
            try await store.receive(Array(records), of: kind)
        } catch {
            guard case .refused(let reason) = error else { throw error }
            guard records.count > 1 else {
                let name = (records.first?.values ?? []).prefix(kind.keyLength).map(\.shortText).joined(separator: " ")
                throw .refused(reason: "\(kind.rawValue) \(name): \(reason)")
            }
            for index in records.indices { try await receive(records[index...index], of: kind) }
        }
    }

    private mutating func header() throws(StoreError) -> String {
        let line = try? reader.line()
        guard case .object(let header)? = line, header["format"] == .string(ExportStream.format),
            case .integer(let version)? = header["version"], case .string(let store)? = header["store"]
        else { throw .refused(reason: "the input is not an export of a store: it does not begin with its line") }
        guard version <= ExportStream.version else {
            throw .refused(
                reason:
                    "the export has version \(version), and this program knows \(ExportStream.version): use a newer one"
            )
        }
        return store
    }

    private mutating func record(_ line: JSONValue) throws(StoreError) -> (RecordKind, StoreRecord) {
        guard case .array(let members) = line, case .string(let name)? = members.first,
            let kind = RecordKind(rawValue: name)
        else { throw reader.malformed("it is not a record") }
        let (fields, values) = (kind.fields, members.dropFirst())
        guard values.count == fields.count + (kind == .blob ? 1 : 0) else {
            throw reader.malformed("a \(name) has \(fields.count) values")
        }
        var record = StoreRecord(values: [])
        for (index, value) in values.enumerated() {
            let read = try reader.value(value)
            guard index < fields.count else {
                guard case .bytes(let data) = read else { throw reader.malformed("a blob has no bytes") }
                guard BlobDigest(of: data) == (try record.digest) else {
                    throw reader.malformed("the bytes are not those of the digest")
                }
                record.bytes = data
                continue
            }
            guard fields[index].takes(read) else { throw reader.malformed("\(fields[index].name) has the wrong type") }
            // JSON does not tell 1.0 from 1.
            if fields[index].kind == .real, case .integer(let number) = read {
                record.values.append(.real(Double(number)))
            } else {
                record.values.append(read)
            }
        }
        return (kind, record)
    }

    private mutating func check(_ end: [String: JSONValue], _ summary: ExportSummary) throws(StoreError) {
        guard end["end"] == .string(ExportStream.format), case .object(let records)? = end["records"] else {
            throw reader.malformed("it is not a record")
        }
        guard end["sha256"] == .string(reader.hash.takeDigest()) else {
            throw .refused(reason: "the export was altered on its way: its digest is another. Import a good copy of it")
        }
        for (name, value) in records {
            let sum = RecordKind(rawValue: name).flatMap { summary.sums[$0] }
            guard case .array(let pair) = value, pair.last == sum.map({ .string($0.digest) }) else {
                throw .refused(reason: "the export has other records of \(name) than it says")
            }
        }
    }

    /// Reads what is in the store now.
    private func differences(_ summary: ExportSummary) async throws(StoreError) -> [RecordKind] {
        let found = Mutex(ExportSummary())
        try await store.export(includingBytes: false) { kind, page in found.withLock { $0.add(page, of: kind) } }
        let sums = found.withLock { $0.sums }
        return RecordKind.allCases.filter { sums[$0] != summary.sums[$0] }
    }
}

extension RecordField {
    /// Whether a value of a stream is one of this field.
    fileprivate func takes(_ value: StoreValue) -> Bool {
        switch (value, kind) {
        case (.null, let kind): kind != .truth
        case (.integer(let number), .truth): number == 0 || number == 1
        case (.integer, .integer), (.integer, .real), (.real, .real), (.text, .text), (.text, .json), (.bytes, .bytes),
            (.bytes, .json):
            true
        default: false
        }
    }
}

/// Reads the lines of a stream and the bytes between them.
private struct StreamReader: ~Copyable {
    let input: (_ count: Int) throws -> Data
    private static let chunk = 1_048_576
    private var rest = Data()
    /// Of all that was taken before the last line.
    var hash = SHA256()
    private var last = Data()
    /// Lines read.
    private var count = 0

    init(input: @escaping (_ count: Int) throws -> Data) { self.input = input }

    func malformed(_ reason: String) -> StoreError {
        .refused(reason: "the export is damaged in line \(count): \(reason)")
    }

    /// - Throws: ``StoreError/refused(reason:)`` at the end, and for what is no JSON.
    mutating func line() throws(StoreError) -> JSONValue {
        count += 1
        var searched = 0
        while true {
            if let end = rest.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                let text = take(end - rest.startIndex + 1)
                do throws(JSONSyntaxError) {
                    return try JSONValue(parsing: text)
                } catch {
                    throw malformed("\(error)")
                }
            }
            searched = rest.count
            guard searched <= ExportStream.longestLine else { throw malformed("it is too long") }
            try more()
        }
    }

    /// The value of a member of a line.
    mutating func value(_ member: JSONValue) throws(StoreError) -> StoreValue {
        switch member {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .number(let number): return .real(number)
        case .string(let text): return .text(text)
        case .object(let object):
            guard object.count == 1, case .integer(let length)? = object["bytes"],
                (0...Int64(ExportStream.mostBytes)).contains(length)
            else { throw malformed("a value is none of a record") }
            while rest.count <= Int(length) { try more() }
            let bytes = take(Int(length))
            guard take(1).first == UInt8(ascii: "\n") else { throw malformed("its bytes are more than it says") }
            return .bytes(bytes)
        case .bool, .array: throw malformed("a value is none of a record")
        }
    }

    func expectEnd() throws(StoreError) {
        guard rest.isEmpty, try read().isEmpty else {
            throw .refused(reason: "something follows the end of the export")
        }
    }

    private mutating func take(_ length: Int) -> Data {
        last.withUnsafeBytes { hash.update($0) }
        last = Data(rest.prefix(length))
        rest = rest.dropFirst(length)
        return last
    }

    private mutating func more() throws(StoreError) {
        let data = try read()
        guard !data.isEmpty else {
            throw .refused(reason: "the export ends too early, in line \(count): run the import again with all of it")
        }
        // A slice keeps what was before it.
        if rest.startIndex > Self.chunk { rest = Data(rest) }
        rest.append(data)
    }

    private func read() throws(StoreError) -> Data {
        do {
            return try input(Self.chunk)
        } catch {
            throw .failed("the export cannot be read: \(error)")
        }
    }
}
