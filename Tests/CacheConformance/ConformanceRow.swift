internal import CameoHTTPCache
package import Foundation
package import TestSupport
internal import Testing

/// One line of the conformance table: an answer comes, time passes, the same is wanted again.
package struct ConformanceRow: CustomTestStringConvertible, Sendable {
    /// What the second wish must come to. Whatever does it, the number of requests at the server and the bytes are
    /// compared, and which of the requests had validators.
    package enum Second: Hashable, Sendable {
        /// Served without a word to the server.
        case cached
        /// With new bytes; the server is asked without validators.
        case fetched
        /// From the cache, after the server answered a request with these validators with 304.
        case revalidated([String: String])
        /// With new bytes, after the server answered a request with validators with 200.
        case replaced
        /// From the cache, after the server was asked in vain.
        case stale
        /// With a failure of this code, after the server was asked in vain.
        case failed(String)
    }

    /// The section of RFC 9111, unless it says otherwise.
    package let section: String
    package let rule: String
    /// Of the first answer, `Name: value`; `CC` is `Cache-Control`, and `@-60` the date a minute before now. A `Date` of
    /// now is added unless there is one; `Date:` alone leaves it out.
    package let answer: [String]
    package let status: Int
    /// The request's, both times.
    package let request: [String: String]
    /// The request's, the second time only.
    package let secondRequest: [String: String]?
    package let rules: ConformanceRules
    /// Seconds between the two.
    package let after: Double
    /// What the server would say the second time: by default a 200 with other bytes, or what the expectation needs.
    package let then: ScriptedAnswer?
    package let second: Second
    /// What a third wish comes to, so many seconds later, with the server as it was.
    package let third: (after: Double, Second)?

    static func row(
        _ section: String,
        _ rule: String,
        _ answer: [String] = [],
        status: Int = 200,
        request: [String: String] = [:],
        secondRequest: [String: String]? = nil,
        rules: ConformanceRules = ConformanceRules(),
        after: Double = 0,
        then: ScriptedAnswer? = nil,
        _ second: Second,
        third: (Double, Second)? = nil
    ) -> ConformanceRow {
        ConformanceRow(
            section: section,
            rule: rule,
            answer: answer,
            status: status,
            request: request,
            secondRequest: secondRequest,
            rules: rules,
            after: after,
            then: then,
            second: second,
            third: third
        )
    }

    /// By section; each directive once where it grants or forbids, and once just beyond.
    package static let table =
        storing + freshness + heuristics + requests + validation + staleness + variants + injected

    package var testDescription: String { "\(section) \(rule)" }

    package static func dated(_ fields: [String], at now: Date) -> [String] {
        let names = fields.map { $0.prefix { $0 != ":" }.lowercased() }
        let all = names.contains("date") ? fields : ["Date: @0"] + fields
        return all.compactMap { field in
            guard field != "Date:" else { return nil }
            if field.hasPrefix("CC: ") { return "Cache-Control: \(field.dropFirst(4))" }
            guard let at = field.firstIndex(of: "@"), let offset = Double(field[field.index(after: at)...]) else {
                return field
            }
            return field[..<at] + HTTPDate.text(of: now.addingTimeInterval(offset))
        }
    }
}

/// What an operator or a program grants a cache beyond RFC 9111.
package struct ConformanceRules: Sendable {
    /// For answers that say nothing of caching.
    private var lifetime: Duration?
    /// The one host that the lifetime is for; nil: all.
    private var host: String?
    package private(set) var staleIfError: Duration = .zero

    package func lifetime(for host: String) -> Duration? { self.host ?? host == host ? lifetime : nil }

    static func lifetime(_ seconds: Int, host: String? = nil) -> ConformanceRules {
        var rules = ConformanceRules()
        (rules.lifetime, rules.host) = (.seconds(seconds), host)
        return rules
    }

    static func staleIfError(_ seconds: Int) -> ConformanceRules {
        var rules = ConformanceRules()
        rules.staleIfError = .seconds(seconds)
        return rules
    }
}
