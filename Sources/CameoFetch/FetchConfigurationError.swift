package import CameoModel

/// Why sources cannot be fetched with this configuration.
package enum FetchConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An allowed root that is missing, no folder, or closed to this user.
    case root(path: String, Errno)
    /// The store's folder cannot be opened.
    case store(path: String, Errno)
    /// Not a host, and not a host with a port.
    case host(String)
    /// A rewriting that cannot be read; its text, and why.
    case rewrite(String, reason: String)
    /// Why headers for a host cannot be used; without any value.
    case hostHeader(String)
    /// A limit that is negative or zero; its name.
    case limit(String)
    /// libcurl is too old or does not start.
    case library(String)

    package var description: String {
        switch self {
        case .root(let path, let errno): "the allowed folder \(path) cannot be used: \(errno)"
        case .store(let path, let errno): "the store's folder \(path) cannot be opened: \(errno)"
        case .host(let text): "\"\(text)\" is not a host name or address, with or without a port"
        case .rewrite(let text, let reason): "the rewriting \(SourceName.of(text)): \(reason)"
        case .hostHeader(let reason): "a header for a host: \(reason)"
        case .limit(let name): "the \(name) is too small"
        case .library(let reason): "libcurl \(reason)"
        }
    }
}
