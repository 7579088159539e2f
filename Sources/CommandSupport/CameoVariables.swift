internal import Foundation

// DESIGN. A misspelt option is refused, but a misspelt variable would silently have no effect. It cannot be refused,
// because a machine may have variables for programs of another version. So the worker warns about it.

/// The environment variables that begin with `CAMEO_`.
package enum CameoVariables {
    package static let prefix = "CAMEO_"

    /// Variables that every command reads: where the store, its bytes and the presets are.
    private static let ofAll = ["CAMEO_BLOBS", "CAMEO_PRESETS", "CAMEO_STORE"]

    /// Variables that the build, the tests and `deploy/` set, besides those that begin with `CAMEO_TEST_`.
    private static let ofDevelopment = [
        "CAMEO_FAULTS", "CAMEO_FLEET", "CAMEO_MODEL_SEED", "CAMEO_MODEL_SEEDS", "CAMEO_STRICT", "CAMEO_TESTS",
        "CAMEO_VIDEO", "CAMEO_WEB",
    ]

    /// Whether Kubernetes sets a variable of this name in every pod, for a service named `cameo` or `cameo-…`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    private static func isOfAService(_ name: String) -> Bool {
        name.contains(#/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?$/#)
    }

    /// The variables with Cameo's prefix and a value that are unknown: neither the command's own `options` nor any
    /// other variable of Cameo. Sorted.
    package static func unknown(in environment: [String: String], options: [String]) -> [String] {
        let known = Set(ofAll + ofDevelopment + options)
        return environment.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty && !known.contains($0.key) }.keys
            .filter { !$0.hasPrefix("CAMEO_TEST_") && !$0.hasPrefix("CAMEO_WEB_") && !isOfAService($0) }.sorted()
    }
}
