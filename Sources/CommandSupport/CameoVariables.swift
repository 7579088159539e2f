internal import Foundation

// DESIGN. A misspelt option is refused; a misspelt variable would be silently without effect. It cannot be refused: a
// machine may have variables for programs of another version. So the worker names it.

/// The environment variables that begin with `CAMEO_`.
package enum CameoVariables {
    package static let prefix = "CAMEO_"

    /// Where the store and the presets are, for every command that asks.
    private static let ofAll = ["CAMEO_PRESETS", "CAMEO_STORE"]

    /// What the build, the tests and `deploy/` set, besides all that begins with `CAMEO_TEST_`.
    private static let ofDevelopment = [
        "CAMEO_FAULTS", "CAMEO_MODEL_SEED", "CAMEO_MODEL_SEEDS", "CAMEO_STRICT", "CAMEO_WEB",
    ]

    /// What Kubernetes sets in every pod for a service whose name is `cameo` or begins with `cameo-`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    private static func isOfAService(_ name: String) -> Bool {
        name.contains(#/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?$/#)
    }

    /// Those that are Cameo's by their names and have a value, sorted, but that nothing knows: neither `options`, which are
    /// the command's own, nor any other part of Cameo.
    package static func unknown(in environment: [String: String], options: [String]) -> [String] {
        let known = Set(ofAll + ofDevelopment + options)
        return environment.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty && !known.contains($0.key) }.keys
            .filter { !$0.hasPrefix("CAMEO_TEST_") && !$0.hasPrefix("CAMEO_WEB_") && !isOfAService($0) }.sorted()
    }
}
