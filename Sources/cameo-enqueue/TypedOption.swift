internal import ArgumentParser
internal import CameoModel

/// Maps fields of a request to the options that set them.
enum TypedOption {
    /// The mistake in a field under the name of its option: `maxAttempts` is `--max-attempts`, `overlay.margin` is
    /// `--overlay-margin`.
    static func mistake(_ error: InvalidRequest) -> ValidationError {
        let path = error.path.split(separator: ".").map(String.init)
        switch path.first {
        case "overlay", "retry": return mistake(path.filter { $0 != "source" }, [], error)
        case "headers": return mistake(["header"], Array(path.dropFirst()), error)
        default: return mistake(Array(path.prefix(1)), Array(path.dropFirst()), error)
        }
    }

    private static func mistake(_ option: [String], _ details: [String], _ error: InvalidRequest) -> ValidationError {
        let words = option.joined(separator: "-").map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }
        return ValidationError("--\(words.joined()): \((details + [error.reason]).joined(separator: " "))")
    }
}
