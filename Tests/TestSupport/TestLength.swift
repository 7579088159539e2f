internal import Foundation

// DESIGN. What a test tries at random, over and over or for many cases finds more the longer it runs, and a run of all
// tests has to end while somebody waits for it. So such tests have three lengths: that of `deploy/test`, which a newcomer
// waits for, that of `--all`, as CI does it, and that of `--long`.

/// How long tests run that try many things, or something many times.
package enum TestLength {
    /// Whether `deploy/test --long` runs them.
    package static let isFull = isSet("CAMEO_TEST_LONG")

    /// Whether `deploy/test --all` runs them, or some of them by name: every test, and every case but of the longest tables.
    package static let isWhole = isFull || isSet("CAMEO_TEST_ALL")

    private static func isSet(_ name: String) -> Bool { ProcessInfo.processInfo.environment[name] == "1" }

    /// Rounds of a test: few, unless it is to run at its full length.
    package static func rounds(_ few: Int, full: Int) -> Int { isFull ? full : few }

    /// One in so many cases of a table, evenly spread, unless the test is to run at its full length.
    package static func sample<Case>(_ cases: [Case], one every: Int) -> [Case] {
        isFull ? cases : stride(from: 0, to: cases.count, by: every).map { cases[$0] }
    }

    /// At most so many cases of a table, evenly spread; `whole` of them with `--all`, and all with `--long`.
    package static func few<Case>(_ cases: some Collection<Case>, _ count: Int = 2, whole: Int = .max) -> [Case] {
        let (all, count) = (Array(cases), isFull ? .max : isWhole ? whole : count)
        return all.count <= count ? all : (0..<count).map { all[$0 * all.count / count] }
    }
}
