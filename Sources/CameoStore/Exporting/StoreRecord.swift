package import CameoModel
internal import CameoSystem
package import Foundation

/// One thing that a store keeps, in a form that all engines share.
package struct StoreRecord: Sendable {
    /// In the order of the fields of its kind.
    package var values: [StoreValue]
    /// The bytes of a blob.
    package var bytes: Data?

    package init(values: [StoreValue], bytes: Data? = nil) {
        self.values = values
        self.bytes = bytes
    }

    /// The number of bytes that it needs in memory, about.
    package var size: Int { values.reduce(bytes?.count ?? 0) { $0 + $1.size } }

    package var digest: BlobDigest {
        get throws(StoreError) {
            guard case .text(let hex)? = values.first, let digest = BlobDigest(hex: hex) else {
                throw .refused(reason: "a blob's name is not a digest")
            }
            return digest
        }
    }

    /// The media type of a blob.
    package var mediaType: String? {
        guard values.count > 2, case .text(let type) = values[2] else { return nil }
        return type
    }

    /// The value of a field; null if the kind has none of this name.
    subscript(_ name: String, of kind: RecordKind) -> StoreValue {
        get { kind.fields.firstIndex { $0.name == name }.map { values[$0] } ?? .null }
        set { if let index = kind.fields.firstIndex(where: { $0.name == name }) { values[index] = newValue } }
    }
}

/// A value of a record, the same in every engine.
package enum StoreValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes(Data)

    /// The number of bytes that it needs in memory, about.
    package var size: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .bytes(let data): data.count
        }
    }

    /// For a message.
    var shortText: String {
        switch self {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): String(text.prefix(200))
        case .bytes(let data): "\(data.count) bytes"
        }
    }
}

/// A store that can be exported and imported.
package protocol ExportableStore: AnyStore {
    /// Reads all records in the order of their kinds, in pages of one moment. `emit` takes a page, on a thread that may block.
    ///
    /// - Throws: ``StoreError/damagedBlob(digest:isMissing:)`` if bytes are lost.
    func export(
        includingBytes: Bool,
        _ emit: @escaping @Sendable (RecordKind, [StoreRecord]) throws -> Void
    ) async throws(StoreError)
    /// Notes that an import has begun, so that it can go on if it is broken off. The mark is the same for all exports of one
    /// store. Returns whether it was begun before.
    ///
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if the store has a living worker, or other records unless `isAddition`.
    func beginImport(of mark: String, isAddition: Bool) async throws(StoreError) -> Bool
    /// Stores records that are not there, and the bytes of blobs before them, in one transaction.
    ///
    /// - Throws: ``StoreError/refused(reason:)`` if the tables do not take one of them; then nothing was written.
    func receive(_ records: [StoreRecord], of kind: RecordKind) async throws(StoreError)
    /// Computes what follows from the records, and forgets the mark. Repeating it does no harm.
    func endImport(of mark: String) async throws(StoreError)
}

// DESIGN. Engines read records in different orders, so the digest of many must not depend on one: it is the sum, modulo
// 2^256, of the SHA-256 of each. A sum, unlike an exclusive or, tells two equal records from none. Who can choose records
// could make it come out as another's; it guards against mistakes and not against attacks.

/// The number and the digest of records.
package struct RecordSum: Hashable, Sendable {
    package private(set) var count = 0
    /// The lowest word first.
    private var words: [UInt64] = [0, 0, 0, 0]

    package init() {}

    package mutating func add(_ record: StoreRecord) {
        count += 1
        var hash = SHA256()
        Self.encoded(record).withUnsafeBytes { hash.update($0) }
        let digest = hash.bytes()
        var carry = false
        for index in words.indices {
            let word = digest[(8 * index)..<(8 * index + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let (first, overflows) = words[index].addingReportingOverflow(word)
            let (sum, overflowsAgain) = first.addingReportingOverflow(carry ? 1 : 0)
            (words[index], carry) = (sum, overflows || overflowsAgain)
        }
    }

    /// 64 hexadecimal digits.
    package var digest: String {
        Hexadecimal.encode(words.reversed().flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) })
    }

    private static func encoded(_ record: StoreRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(record.size + 9 * record.values.count)
        func append(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        for value in record.values {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                append(UInt64(bitPattern: number))
            case .real(let number):
                bytes.append(2)
                append(number.bitPattern)
            case .text(let text):
                bytes.append(3)
                append(UInt64(text.utf8.count))
                bytes += text.utf8
            case .bytes(let data):
                bytes.append(4)
                append(UInt64(data.count))
                bytes += data
            }
        }
        return bytes
    }
}
