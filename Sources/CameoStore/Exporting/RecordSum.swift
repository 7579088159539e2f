internal import CameoModel

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
        words.reversed().map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
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
