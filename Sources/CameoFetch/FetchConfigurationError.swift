package import CameoModel

/// Why this configuration is invalid.
package enum FetchConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An allowed root is missing, is not a folder, or is not accessible to this user.
    case root(path: String, Errno)
    /// This host refuses the named system call, or does not know it.
    case systemCall(String, Errno)
    /// The store's folder cannot be opened.
    case store(path: String, Errno)
    /// The text is not a host, with or without a port.
    case host(String)
    /// A rewrite rule is malformed: its text and the reason.
    case rewrite(String, reason: String)
    /// Headers for a host are invalid. The reason never contains a value.
    case hostHeader(String)
    /// The named limit is negative or zero.
    case limit(String)
    /// libcurl is too old or does not start.
    case library(String)

    package var description: String {
        switch self {
        case .root(let path, let errno): "the allowed folder \(path) cannot be used: \(errno)"
        case .systemCall(let name, let errno):
            "this host refuses the system call \(name), which opens sources in files: \(errno); Linux 5.6 or later has it, "
                + "and a container's seccomp profile has to allow it"
        case .store(let path, let errno): "the store's folder \(path) cannot be opened: \(errno)"
        case .host(let text): "\"\(text)\" is not a host name or address, with or without a port"
        case .rewrite(let text, let reason): "the rewriting \(SourceName.of(text)): \(reason)"
        case .hostHeader(let reason): "a header for a host: \(reason)"
        case .limit(let name): "the \(name) is too small"
        case .library(let reason): "libcurl \(reason)"
        }
    }
}
