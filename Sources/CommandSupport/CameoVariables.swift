internal import Foundation

// DESIGN. A misspelt option is refused; a misspelt variable would be silently without effect. It cannot be refused: a
// machine may have variables for programs of another version. So the worker and `cameo-admin check` name it.

/// The environment variables that begin with `CAMEO_`.
package enum CameoVariables {
    static let prefix = "CAMEO_"

    /// Where the store and the presets are, for every command that asks.
    private static let ofAll = ["CAMEO_PRESETS", "CAMEO_STORE"]

    /// The options of `cameo-worker`. Written down, since `cameo-admin` does not link what the worker's options need.
    private static let ofTheWorker = [
        "allow-format", "allow-host", "allow-network", "allow-root", "cache-time", "concurrency", "connect-timeout",
        "drain", "fetch-concurrency", "fetch-timeout", "grace", "host-concurrency", "host-header", "host-headers",
        "job-timeout", "keep-cancelled", "keep-completed", "keep-discarded", "keep-thumbnails", "log-format",
        "log-level", "low-speed", "max-animated-pixels", "max-bytes-in-flight", "max-cache", "max-connections",
        "max-edge", "max-frames",
        "max-pixels", "max-redirects", "max-source-bytes", "memory-limit", "proxy", "queues", "recycle-after",
        "recycle-resident", "remember-failures", "render-concurrency", "render-timeout", "renderer",
        "require-sandbox", "retry-base", "retry-cap", "rewrite", "settings", "stale-if-error", "tolerate", "user-agent",
    ]

    /// What users set.
    package static let documented = ofAll + ofTheWorker.map { EnvironmentOptions.variable($0, prefix) }

    /// What the build, the tests and `deploy/` set, besides all that begins with `CAMEO_TEST_`.
    private static let ofDevelopment = ["CAMEO_FAULTS", "CAMEO_MODEL_SEED", "CAMEO_MODEL_SEEDS", "CAMEO_STRICT"]

    package static func isKnown(_ name: String) -> Bool {
        documented.contains(name) || ofDevelopment.contains(name) || name.hasPrefix("CAMEO_TEST_") || isOfAService(name)
    }

    /// What Kubernetes sets in every pod for a service whose name is `cameo` or begins with `cameo-`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    private static func isOfAService(_ name: String) -> Bool {
        name.contains(#/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?$/#)
    }

    /// A line for each variable of the environment that is Cameo's by its name, has a value, and that nothing knows.
    package static func warnings(in environment: [String: String]) -> [String] {
        environment.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty && !isKnown($0.key) }.keys.sorted()
            .map { name in
                "the environment's \(name) has no effect: there is no such variable"
                    + (nearest(to: name).map { "; is \($0) meant?" } ?? "")
            }
    }

    /// The one that is spelled almost so: with at most a third of its letters, and at most three, wrong.
    private static func nearest(to name: String) -> String? {
        let word = name.dropFirst(prefix.count)
        let distances = documented.sorted().map { ($0, distance(word, $0.dropFirst(prefix.count))) }
        guard let (nearest, distance) = distances.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= min(3, word.count / 3) ? nearest : nil
    }

    /// Levenshtein's: letters to insert, remove or replace.
    private static func distance(_ one: Substring, _ other: Substring) -> Int {
        // Of the beginning of `one` that was looked at, from each beginning of `other`.
        var row = Array(0...other.count)
        for (line, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, counterpart) in other.enumerated() {
                let replaced = diagonal + (letter == counterpart ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
