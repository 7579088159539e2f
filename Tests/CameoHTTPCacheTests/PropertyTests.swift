import CameoHTTPCache
import Foundation
import TestSupport
import Testing

/// What holds for all answers and requests, tried on many that are made up from pieces and damaged.
@Suite(.timeLimit(.minutes(10)))
struct PropertyTests {
    private var random = SeededRandom(seed: 9_111)
    private let rounds = TestLength.isWhole ? 5_000 : 500

    private static let names = [
        "Cache-Control", "Expires", "Age", "Date", "Last-Modified", "ETag", "Vary", "Pragma", "Connection",
        "Content-Type",
        "Content-Length", "Authorization", "Accept",
    ]
    private static let pieces = [
        "max-age=", "s-maxage=", "no-cache", "no-store", "private", "public", "immutable", "must-revalidate",
        "stale-if-error=", "max-stale", "min-fresh=", "0", "1", "60", "3600", "99999999999999999999", "-", "\"", "\\",
        "=",
        ",", ", ", " ", "\t", "*", "W/", "\"a\"", after(noon: 0), after(noon: 50), after(noon: -5_000),
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "\u{301}", "\u{0}", "\r\n", "é",
    ]

    private mutating func text() -> String {
        if Int.random(in: 0..<4, using: &random) == 0 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let count = Int.random(in: 1...5, using: &random)
        return (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
    }

    private mutating func head() -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            fields.append(Self.names.randomElement(using: &random) ?? "", text())
        }
        return fields
    }

    private mutating func response(status: Int? = nil, fields: HTTPFields? = nil) -> CacheableResponse {
        CacheableResponse(
            status: status ?? [200, 203, 206, 301, 302, 304, 404, 503, Int.min, Int.max].randomElement(using: &random)
                ?? 200,
            fields: fields ?? head(),
            requestTime: noon + Double.random(in: -10...10, using: &random),
            responseTime: noon + Double.random(in: -10...10, using: &random)
        )
    }

    @Test mutating func anythingIsJudgedAndNothingTraps() {
        var stored = 0
        for _ in 0..<rounds {
            let (response, request, update) = (response(), head(), response(status: 304))
            let policy = CachePolicy(
                audience: Bool.random(using: &random) ? .shared : .oneTenant,
                defaultLifetime: Bool.random(using: &random) ? .seconds(60) : nil
            )
            if policy.storing(response, of: request) == .allowed { stored += 1 }
            let lifetime = policy.freshnessLifetime(of: response)
            #expect(lifetime >= .zero && lifetime <= .seconds(1 << 31))
            #expect(policy.currentAge(of: response, at: noon) >= .zero)
            _ = policy.reuse(of: response, for: request, at: noon)
            _ = policy.mayServeStale([response], for: request, after: .serverError, at: noon)
            _ = policy.freshened(response, by: update)
            _ = response.isNamed(by: update)
            #expect(response.validators.lines.allSatisfy { !$0.value.utf8.contains(10) })
            let variant = Variant(of: [response.fields], for: request)
            #expect(variant.map { Variant(text: $0.text) == $0 } ?? true)
        }
        #expect(stored > rounds / 20)
    }

    @Test mutating func anAnswerIsFreshBeforeTheInstantAndStaleFromItOn() {
        var fresh = 0
        for _ in 0..<rounds {
            var fields = head()
            fields.append("Cache-Control", "max-age=\(Int.random(in: 0...5_000, using: &random))")
            let response = response(fields: fields)
            let until = shared.freshUntil(response)
            #expect(shared.reuse(of: response, for: plain, at: until) != .fresh)
            #expect(shared.reuse(of: response, for: plain, at: until + 1) != .fresh)
            if until > response.responseTime {
                fresh += 1
                #expect(shared.reuse(of: response, for: plain, at: response.responseTime) == .fresh)
                let instant = max(until - 0.001, response.responseTime)
                #expect(shared.reuse(of: response, for: plain, at: instant) == .fresh)
                let left = shared.freshnessLifetime(of: response) - shared.currentAge(of: response, at: instant)
                #expect(left > .zero && left <= .milliseconds(2))
            }
        }
        #expect(fresh > rounds / 10)
    }

    @Test mutating func aFreshenedAnswerKeepsWhatDescribesItsBytes() {
        for _ in 0..<rounds {
            let (stored, update) = (response(status: 200), response(status: 304))
            let fresh = shared.freshened(stored, by: update)
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Range"] {
                #expect(fresh.fields.values(of: name) == stored.fields.values(of: name))
            }
            for name in Set(update.fields.storable.lines.map(\.name)).subtracting(["Content-Type", "Content-Length"]) {
                #expect(fresh.fields.values(of: name) == update.fields.values(of: name))
            }
            #expect(shared.freshened(fresh, by: update) == fresh)
        }
    }

    @Test mutating func aPrivateCacheMayStoreAllThatASharedOneMayButForItsOwnLifetime() {
        for _ in 0..<rounds {
            let (response, request) = (response(), head())
            guard shared.storing(response, of: request) == .allowed else { continue }
            let own = oneTenant.storing(response, of: request)
            #expect(own == .allowed || own == .nothingAllowsIt)
        }
    }
}
