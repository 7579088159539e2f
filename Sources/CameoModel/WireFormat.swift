package import Foundation

/// The wire format of messages: JSON on one line with sorted keys and times in RFC 3339, UTC, with milliseconds.
///
/// DESIGN. Foundation's ISO 8601 style truncates milliseconds instead of rounding them, so that a time can lose one with
/// every round trip, and it accepts 30 February, 25 o'clock and "…Zgarbage"; on Linux it has no style for HTTP's dates. Hence
/// `UTCTime`. What is read is right if it would be written so.
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

    /// Writes `2030-01-31T12:00:00.000Z`, rounded to the millisecond; a year outside 0…9999 is clamped to what RFC 3339
    /// can express.
    package static func text(of date: Date) -> String {
        let range = -62_167_219_200_000.0...253_402_300_799_999.0
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        let milliseconds = Int(min(max(rounded, range.lowerBound), range.upperBound))
        let fraction = (milliseconds % 1_000 + 1_000) % 1_000
        return "\(UTCTime.text((milliseconds - fraction) / 1_000, seconds)).\(fraction.text(digits: 3))Z"
    }

    /// Parses an RFC 3339 time with any offset and an optional fraction of up to nine digits. `T` and `Z` must be upper
    /// case; leap seconds are refused (SQLite does not support them either).
    package static func date(from text: String) -> Date? {
        let parts = text.prefix(19).split { "-T:".contains($0) }.compactMap { Int32($0) }
        guard parts.count == 6, case let time = UTCTime.seconds(parts), UTCTime.text(time, seconds) == text.prefix(19)
        else { return nil }
        var (zone, fraction) = (text.dropFirst(19), 0.0)
        if zone.first == "." {
            let digits = zone.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard (1...9).contains(digits.count) else { return nil }
            (zone, fraction) = (zone[digits.endIndex...], Double("0.\(digits)") ?? 0)
        }
        return offset(zone).map { Date(timeIntervalSince1970: Double(time - $0) + fraction) }
    }

    private static let seconds = "%04Y-%m-%dT%T"

    /// Reads `Z` or `+01:00` as seconds east of UTC.
    private static func offset(_ zone: Substring) -> Int? {
        if zone == "Z" { return 0 }
        let numbers = zone.dropFirst().split(separator: ":").compactMap { Int($0) }
        guard zone.first == "+" || zone.first == "-", numbers.count == 2, (0...23).contains(numbers[0]),
            (0...59).contains(numbers[1]),
            zone.dropFirst() == "\(numbers[0].text(digits: 2)):\(numbers[1].text(digits: 2))"
        else { return nil }
        return (zone.first == "+" ? 1 : -1) * (numbers[0] * 3_600 + numbers[1] * 60)
    }
}

/// The version of this build, as shown by the commands and recorded in workers' rows.
package enum CameoVersion {
    package static let current = "0.2.0"
}
