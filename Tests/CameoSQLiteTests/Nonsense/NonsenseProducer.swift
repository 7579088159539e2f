import TestSupport

/// Generates what a program that knows neither JSON nor Cameo might write, as SQL statements with their bytes.
struct NonsenseProducer {
    /// A statement and its arguments as bytes, because text arguments would be repaired.
    struct Statement {
        let sql: String
        let bytes: [[UInt8]]
    }

    private var random: SeededRandom
    /// The requests so far, to create duplicates.
    private var before: [[UInt8]] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func next() -> Statement {
        let request = self.request()
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: return job("INSERT INTO job(request) VALUES (CAST(? AS TEXT))", request)
        case 60..<64: return job("INSERT OR IGNORE INTO job(request) VALUES (CAST(? AS TEXT))", request)
        case 64..<68: return job("INSERT OR REPLACE INTO job(request) VALUES (CAST(? AS TEXT))", request)
        case 68..<70: return job("INSERT INTO job(request) VALUES (?)", request)
        case 70..<78:
            return job("INSERT INTO job(request, created_at) VALUES (CAST(? AS TEXT), \(pick(Self.numbers)))", request)
        case 78..<82:
            let verb = pick(["INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "REPLACE", "INSERT OR FAIL"])
            return job("\(verb) INTO job(id, request) VALUES (\(pick(Self.numbers)), CAST(? AS TEXT))", request)
        case 82..<84:
            let column = pick(["state", "queue", "priority", "rowid", "accepted", "\"\"", "attempt"])
            return job("INSERT INTO job(\(column), request) VALUES (1, CAST(? AS TEXT))", request)
        case 84..<86:
            return job(pick(["UPDATE job SET request = CAST(? AS TEXT)", "UPDATE OR REPLACE job SET id = ?"]), request)
        case 86..<95:
            let data = pick([[], [0], Array("picture".utf8), request])
            return Statement(
                sql: "INSERT INTO upload(data, request) VALUES (?, CAST(? AS TEXT))",
                bytes: [data, request]
            )
        case 95..<97:
            let columns = pick(["id", "job_id", "digest"])
            let sql =
                "REPLACE INTO upload(data, request, \(columns)) VALUES (?, CAST(? AS TEXT), \(pick(Self.numbers)))"
            return Statement(sql: sql, bytes: [[1], request])
        default: return job("UPDATE OR REPLACE upload SET request = CAST(? AS TEXT)", request)
        }
    }

    private func job(_ sql: String, _ request: [UInt8]) -> Statement { Statement(sql: sql, bytes: [request]) }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    // MARK: - Requests

    private static let numbers = [
        "0", "-1", "1", "7", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e300", "-1e300",
        "1.5", "NULL", "'now'", "x'00'", "253402300799999", "253402300800000", "1900000000000", "4102444800000",
    ]

    private mutating func request() -> [UInt8] {
        let request = freshRequest()
        if !before.isEmpty, random.chance(0.15) { return pick(before) }
        // Some long requests are kept too, so that they get duplicates.
        if request.count < 10_000 || random.chance(0.5) { before.append(request) }
        if before.count > 200 { before.remove(at: Int.random(in: 0..<200, using: &random)) }
        return request
    }

    private mutating func freshRequest() -> [UInt8] {
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<40:
            return (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        case 40..<60: return Array(pick(["", "null", "[]", "7", "\"\"", "{", "{}", "{\"source\":\"a\"}", "nan"]).utf8)
        case 60..<70: return object(depth: Int.random(in: 60...1_990, using: &random))
        case 70..<76: return object(padded: 1_048_576 - Int.random(in: 0...300, using: &random))
        default: return object()
        }
    }

    /// An object with the fields that the tables check, plus something odd.
    private mutating func object(depth: Int? = nil, padded: Int? = nil) -> [UInt8] {
        var members: [[UInt8]] = []
        if padded == nil, !random.chance(0.02) {
            members.append(member("source", random.chance(0.85) ? source() : value()))
        }
        if !random.chance(0.02) { members.append(member("renditions", random.chance(0.85) ? renditions() : value())) }
        let odd = [0, 1, 1, 2, 3]
        for _ in 0..<pick(odd) {
            let field = pick(Self.fields)
            members.append(member(field, random.chance(0.4) ? likely(field) : value()))
        }
        if let depth {
            let nested =
                Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
            members.append(member("metadata", Array("{\"deep\":".utf8) + nested + [UInt8(ascii: "}")]))
        }
        if random.chance(0.1) { members.shuffle(using: &random) }
        var bytes = [UInt8(ascii: "{")]
        bytes += members.joined(separator: [UInt8(ascii: ",")])
        if let padded {
            let rest = padded - bytes.count - 20
            bytes += Array((members.isEmpty ? "" : ",").utf8) + Array("\"source\":\"data:,".utf8)
            bytes += Array(repeating: UInt8(ascii: "x"), count: max(0, rest)) + [UInt8(ascii: "\"")]
        }
        bytes.append(UInt8(ascii: "}"))
        if random.chance(0.03) { bytes += pick([[0], [0, 0x7B], [0xFF], [0x20], Array("{}".utf8)]) }
        return bytes
    }

    private static let fields = [
        "queue", "priority", "maxAttempts", "runAt", "batch", "uniqueKey", "concurrencyKey", "concurrencyLimit",
        "metadata", "headers", "refresh", "timeout", "retry", "unheard", "source", "renditions", "", "$.source",
        "a\\u0000b",
    ]

    private mutating func member(_ name: String, _ value: [UInt8]) -> [UInt8] {
        Array("\"\(name)\":".utf8) + value
    }

    private mutating func source() -> [UInt8] {
        let number = Int.random(in: 0..<400, using: &random)
        return Array(
            pick([
                "\"file:///nonsense/\(number)\"", "\"https://example.com/\(number)\"", "\"upload:\(number)\"",
                "\"data:,x\"",
                "\"initials:AB\"", "\"cameo://blob/sha256-00\"", "\"UPLOAD:1\"", "\"cameo://thumb/\(number)\"",
            ]).utf8
        )
    }

    private mutating func renditions() -> [UInt8] {
        Array(
            pick([
                "[{\"width\":64}]", "[{\"width\":64},{\"height\":9}]", "[{}]", "[{\"width\":1e300}]", "[null]",
                "[{\"width\":64,\"overlay\":{\"source\":\"upload:1\"}}]", "[{\"width\":-1}]", "[[]]", "[]",
            ]).utf8
        )
    }

    /// A valid or nearly valid value for the field.
    private mutating func likely(_ field: String) -> [UInt8] {
        let text: String
        switch field {
        case "queue": text = pick(["\"web\"", "\"default\"", "\"Web\"", "\"\""])
        case "priority": text = pick(["100", "-100", "101", "5.0", "1e2"])
        case "maxAttempts": text = pick(["1", "25", "26", "0"])
        case "runAt":
            text = pick([
                "\"2020-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999Z\"", "\"0000-01-01T00:00:00Z\"", "\"now\"",
            ])
        case "concurrencyKey", "uniqueKey", "batch":
            text = pick(["\"k\"", "\"l\"", "\"\\ud800\"", "\"\\u0000\"", "\"é\""])
        case "concurrencyLimit": text = pick(["1", "2", "10000", "0"])
        case "refresh": text = pick(["\"always\"", "\"never\"", "\"if-changed\"", "\"sometimes\""])
        case "timeout": text = pick(["1", "3600", "1e-300"])
        default: text = "{\"a\":\"b\"}"
        }
        return Array(text.utf8)
    }

    private mutating func value() -> [UInt8] {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Array(pick(["null", "true", "false", "{}", "[]", "[[[{}]]]", "{\"a\":{\"a\":1},\"a\":2}"]).utf8)
        case 1, 2: return Array(pick(Self.numerals).utf8)
        case 3: return Array("\"\(pick(Self.escapes))\"".utf8)
        case 4:
            let text: [UInt8] = pick([
                [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x01],
            ])
            return [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
        case 5:
            let count = pick([1, 64, 65, 200, 201, 5_000])
            return [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "k"), count: count) + [UInt8(ascii: "\"")]
        case 6: return Array(String(repeating: "9", count: pick([18, 19, 20, 309, 400])).utf8)
        default: return Array("\"\(Int.random(in: 0..<50, using: &random))\"".utf8)
        }
    }

    private static let numerals = [
        "0", "-0", "-0.0", "1e308", "1e309", "-1e309", "1e-400", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "0.1", "1E+2", "4294967296", "-1",
        "1000",
    ]

    private static let escapes = [
        "\\ud800", "\\udc00", "\\ud800\\ud800", "\\u0000", "a\\u0000b", "\\ud83d\\ude00", "\\uFFFF", "\\/", "\\n",
        "\\\"",
        "'; DROP TABLE job; --", "%s", "\u{202E}", "e\u{301}", "\\u007f",
    ]
}
