import CameoFetch
import CameoHTTPCache
import Foundation
import TestSupport
import Testing

/// A row of the conformance table: an answer comes, time passes, and the same URI is requested again.
struct ConformanceRow: CustomTestStringConvertible, Sendable {
    /// How the second request must be answered. Tests compare the bytes, the number of requests that reach the server, and
    /// their validators.
    enum Second: Hashable, Sendable {
        /// From the cache; the server is not asked.
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

    /// A section of RFC 9111, or another source of the rule.
    let section: String
    let rule: String
    /// The fields of the first answer as `Name: value`. `CC` is `Cache-Control`, and `@-60` is the date of a minute ago. Unless
    /// there is a `Date`, the current one is added; `Date:` alone omits it.
    let answer: [String]
    let status: Int
    /// The headers of both requests.
    let request: [String: String]
    /// The headers of the second request, where they differ.
    let secondRequest: [String: String]?
    let rules: CacheRules
    /// The seconds between the two requests.
    let after: Double
    /// The server's second answer: by default a 200 with other bytes, or what the expectation needs.
    let then: ScriptedAnswer?
    let second: Second
    /// The seconds until a third request, and how it must be answered. The server does not change in between.
    let third: (after: Double, Second)?

    static func row(
        _ section: String,
        _ rule: String,
        _ answer: [String] = [],
        status: Int = 200,
        request: [String: String] = [:],
        secondRequest: [String: String]? = nil,
        rules: CacheRules = CacheRules(),
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

    /// All rows, by section. Each directive is tried where it just applies, and where it just no longer does.
    static let table = storing + freshness + heuristics + requests + validation + staleness + variants + injected

    var testDescription: String { "\(section) \(rule)" }

    static func dated(_ fields: [String], at now: Date) -> [String] {
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

extension CacheRules {
    static func lifetime(_ seconds: Int, host: String? = nil) -> CacheRules {
        var rules = CacheRules()
        rules.lifetimes = [Lifetime(host: host, .seconds(seconds))]
        return rules
    }

    static func staleIfError(_ seconds: Int) -> CacheRules {
        var rules = CacheRules()
        rules.staleIfError = .seconds(seconds)
        return rules
    }
}
