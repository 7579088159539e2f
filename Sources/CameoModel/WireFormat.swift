package import Foundation

/// The wire format of messages: JSON on one line with sorted keys and times in RFC 3339, UTC, with milliseconds.
package enum WireFormat {
    package static func encode(_ message: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(text(of: date))
        }
        return try encoder.encode(message)
    }

    package static func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = WireFormat.date(from: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
            }
            return date
        }
        return try decoder.decode(type, from: data)
    }
}

// DESIGN. Foundation's ISO 8601 style truncates milliseconds instead of rounding them, so that a time can lose one with
// every round trip, and it accepts 30 February, 25 o'clock and "…Zgarbage"; on Linux it has no style for HTTP's dates. Hence
// this small parser and `DateScanner`.
extension WireFormat {
    /// Writes `2030-01-31T12:00:00.000Z`, rounded to the millisecond; a year outside 0…9999 is clamped to what RFC 3339
    /// can express.
    package static func text(of date: Date) -> String {
        let range = -62_167_219_200_000.0...253_402_300_799_999.0
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        let milliseconds = Int(min(max(rounded, range.lowerBound), range.upperBound))
        let fraction = (milliseconds % 1_000 + 1_000) % 1_000
        let time = UTCTime(secondsSince1970: (milliseconds - fraction) / 1_000)
        let date = "\(time.year.text(digits: 4))-\(time.month.text(digits: 2))-\(time.day.text(digits: 2))"
        return "\(date)T\(time.timeOfDay).\(fraction.text(digits: 3))Z"
    }

    /// Parses an RFC 3339 time with any offset and an optional fraction of up to nine digits. `T` and `Z` must be upper
    /// case; leap seconds are refused (SQLite does not support them either).
    package static func date(from text: String) -> Date? {
        var scanner = DateScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2, in: 1...12), scanner.skip("-"),
            let day = scanner.number(digits: 2, in: 1...31), scanner.skip("T"),
            let second = scanner.timeOfDay(), let fraction = scanner.fraction(), let offset = scanner.offset(),
            scanner.isAtEnd, let time = UTCTime(year: year, month: month, day: day, second: second)
        else { return nil }
        return Date(timeIntervalSince1970: Double(time.secondsSince1970 - offset) + fraction)
    }
}

/// The version of this build, as shown by the commands and recorded in workers' rows.
package enum CameoVersion {
    package static let current = "0.2.0"
}
