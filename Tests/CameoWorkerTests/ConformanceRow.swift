import CameoFetch
import CameoHTTPCache
import Foundation
import TestSupport
import Testing

/// One line of the conformance table: an answer comes, time passes, the same is wanted again.
struct ConformanceRow: CustomTestStringConvertible, Sendable {
    /// What the second wish must come to. Whatever does it, the number of requests at the server and the bytes are
    /// compared, and which of the requests had validators.
    enum Second: Hashable, Sendable {
        /// Served without a word to the server.
        case cached
        /// Asked for without validators; the new bytes are served.
        case fetched
        /// Asked with these validators, answered 304, served from the cache.
        case revalidated([String: String])
        /// Asked with validators, answered 200; the new bytes are served.
        case replaced
        /// Asked in vain, served from the cache.
        case stale
        /// Asked in vain, and nothing served; the failure's code.
        case failed(String)
    }

    /// The section of RFC 9111, unless it says otherwise.
    let section: String
    let rule: String
    /// Of the first answer, `Name: value`; `CC` is `Cache-Control`, and `@-60` the date a minute before now. A `Date` of
    /// now is added unless there is one; `Date:` alone leaves it out.
    let answer: [String]
    let status: Int
    /// The request's, both times.
    let request: [String: String]
    /// The request's, the second time only.
    let secondRequest: [String: String]?
    let rules: CacheRules
    /// Seconds between the two.
    let after: Double
    /// What the server would say the second time: by default a 200 with other bytes, or what the expectation needs.
    let then: ScriptedAnswer?
    let second: Second
    /// What a third wish comes to, so many seconds later, with the server as it was.
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

    /// By section; each directive once where it grants or forbids, and once just beyond.
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
