internal import Foundation

// DESIGN. What a test tries at random, or over and over, finds more the longer it runs, and a run of all tests has to end
// while somebody waits for it. So such tests have two lengths.

/// How long tests run that try something many times.
package enum TestLength {
    /// Whether `deploy/test --long` runs them.
    package static let isFull = ProcessInfo.processInfo.environment["CAMEO_TEST_LONG"] == "1"

    /// Rounds of a test: few, unless it is to run at its full length.
    package static func rounds(_ few: Int, full: Int) -> Int { isFull ? full : few }

    /// One in so many cases of a table, evenly spread, unless the test is to run at its full length.
    package static func sample<Case>(_ cases: [Case], one every: Int) -> [Case] {
        isFull ? cases : stride(from: 0, to: cases.count, by: every).map { cases[$0] }
    }
}
