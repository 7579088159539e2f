internal import CameoQueue
internal import Foundation

/// A parameter of a statement as it is sent. The server infers its type from its place; where it cannot, the statement
/// casts.
enum SQLParameter: Sendable {
    case text(String)
    /// Text as UTF-8.
    case utf8([UInt8])
    /// Sent in binary form as `bytea`.
    case bytes(Data)

    init(_ value: SQLValue) {
        switch value {
        case .integer(let number): self = .text(String(number))
        case .real(let number): self = .text(String(number))
        case .truth(let truth): self = .text(truth ? "t" : "f")
        case .text(let text): self = .text(text)
        case .bytes(let data): self = .bytes(data)
        case .integers(let numbers): self.init(SQLArray(numbers).sqlValue)
        case .texts(let texts): self.init(SQLArray(texts).sqlValue)
        case .written(let list): self = .utf8(list)
        }
    }
}

/// Arrays are parameters only: a list of any length is one parameter, as in `= ANY($1::bigint[])` and `unnest`.
struct SQLArray: SQLBindable {
    let sqlValue: SQLValue

    init(_ numbers: some Sequence<Int64>) {
        self.init(numbers.map(Optional.some))
    }

    init(_ numbers: some Sequence<Int64?>) {
        self.init(items: numbers) { number, list in
            let start = list.endIndex
            var rest = number.magnitude
            repeat {
                list.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest > 0
            if number < 0 { list.append(UInt8(ascii: "-")) }
            list[start...].reverse()
        }
    }

    init(_ numbers: some Sequence<Int>) { self.init(numbers.map(Int64.init)) }

    init(_ numbers: some Sequence<Int?>) { self.init(numbers.map { $0.map(Int64.init) }) }

    init(_ texts: some Sequence<String?>) {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        self.init(items: texts) { text, list in
            list.append(quote)
            for byte in text.utf8 {
                if byte == quote || byte == escape { list.append(escape) }
                list.append(byte)
            }
            list.append(quote)
        }
    }

    init(_ texts: some Sequence<String>) { self.init(texts.map(Optional.some)) }

    init(_ truths: some Sequence<Bool>) {
        self.init(items: truths.map(Optional.some)) { truth, list in list += (truth ? "t" : "f").utf8 }
    }

    private init<Item>(items: some Sequence<Item?>, _ append: (Item, inout [UInt8]) -> Void) {
        var list = [UInt8(ascii: "{")]
        list.reserveCapacity(16 * items.underestimatedCount)
        for item in items {
            if list.count > 1 { list.append(UInt8(ascii: ",")) }
            if let item { append(item, &list) } else { list += "NULL".utf8 }
        }
        list.append(UInt8(ascii: "}"))
        sqlValue = .written(list)
    }
}
