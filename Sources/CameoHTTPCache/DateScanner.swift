/// Reads the parts of an HTTP date from left to right.
struct DateScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8.prefix(Self.longest + 1))[...]
    }

    /// The length of `Wednesday, 09-Nov-94 08:49:37 GMT`, the longest form.
    private static let longest = 33

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips the text if it comes next, ignoring case.
    mutating func skip(_ text: String) -> Bool {
        guard rest.count >= text.utf8.count,
            zip(rest, text.utf8).allSatisfy({ $0.asciiLowercased == $1.asciiLowercased })
        else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Skips the word that comes next and returns its index.
    mutating func word(of words: [String]) -> Int? {
        for (index, word) in words.enumerated() where skip(word) { return index }
        return nil
    }

    mutating func number(digits: Int) -> Int? {
        let values = rest.prefix(digits).compactMap(\.digit)
        guard values.count == digits else { return nil }
        rest = rest.dropFirst(digits)
        return values.reduce(0) { $0 * 10 + $1 }
    }

    /// Reads `08:49:37` as seconds after midnight. A leap second, `23:59:60`, is read as the second before it.
    mutating func timeOfDay() -> Int? {
        guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
            let second = number(digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + min(second, 59)
    }
}
