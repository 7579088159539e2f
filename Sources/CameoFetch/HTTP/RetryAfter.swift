internal import CCurl
internal import Glibc

/// The `Retry-After` header (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// More than anybody waits; far from any overflow.
    private static let longest = Int64(100_000_000)

    /// - Parameters:
    ///   - header: seconds or an HTTP date.
    ///   - date: the same answer's `Date`. A time is taken relative to it, so that a server whose clock is wrong still
    ///     says how long; without it this machine's clock has to do.
    /// - Returns: at least zero; nil for text that is neither.
    static func delay(_ header: String, answeredAt date: String?) -> Duration? {
        let text = header.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let digits = text.prefix { (0x30...0x39).contains($0) }
        if !digits.isEmpty, text.dropFirst(digits.count).allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
            // So many digits that they are no Int64 are a long time too.
            return .seconds(min(Int64(String(decoding: digits, as: UTF8.self)) ?? longest, longest))
        }
        guard let until = seconds(header) else { return nil }
        let now = date.flatMap(seconds) ?? Int64(Glibc.time(nil))
        return .seconds(min(max(until - now, 0), longest))
    }

    /// Since 1970. HTTP dates, also the two obsolete forms, begin with a day's name; libcurl's parser, which knows them
    /// all, takes much else too.
    private static func seconds(_ date: String) -> Int64? {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        guard days.contains(where: date.hasPrefix) else { return nil }
        let time = curl_getdate(date, nil)
        return time >= 0 ? Int64(time) : nil
    }
}
