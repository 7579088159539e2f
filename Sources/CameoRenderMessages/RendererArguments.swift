package import CameoModel
package import Glibc

/// The command line by which a worker starts `cameo-renderer`:
/// `cameo-renderer serve <protocol version> <parent's pid> <memory limit> <allowed formats, with commas, or ->`.
package struct RendererArguments: Hashable, Sendable {
    /// The protocol version; the child refuses any but its own.
    package var protocolVersion: Int
    /// The worker's process; the renderer ends with it.
    package var parent: pid_t
    /// The limit of the address space in bytes (RLIMIT_AS).
    package var memoryLimitBytes: Int
    /// The formats of `PictureFormat.optional` that may be decoded.
    package var allowedFormats: Set<PictureFormat>

    private static let noFormats = "-"

    package init(
        protocolVersion: Int = RendererProtocol.version,
        parent: pid_t,
        memoryLimitBytes: Int,
        allowedFormats: Set<PictureFormat> = []
    ) {
        self.protocolVersion = protocolVersion
        self.parent = parent
        self.memoryLimitBytes = memoryLimitBytes
        self.allowedFormats = allowedFormats
    }

    /// - Parameter arguments: the arguments without the program's name. Nil unless a worker spelled them.
    package init?(_ arguments: some Collection<String>) {
        let words = Array(arguments)
        guard words.count == 5, words[0] == "serve", let version = Int(words[1]), let parent = pid_t(words[2]),
            let limit = Int(words[3]), parent > 0, limit > 0
        else { return nil }
        var formats: Set<PictureFormat> = []
        for name in words[4].split(separator: ",", omittingEmptySubsequences: false) where words[4] != Self.noFormats {
            guard let format = PictureFormat(rawValue: String(name)), PictureFormat.optional.contains(format) else {
                return nil
            }
            formats.insert(format)
        }
        self.init(protocolVersion: version, parent: parent, memoryLimitBytes: limit, allowedFormats: formats)
    }

    package var words: [String] {
        let formats = allowedFormats.map(\.rawValue).sorted().joined(separator: ",")
        return [
            "serve", "\(protocolVersion)", "\(parent)", "\(memoryLimitBytes)",
            formats.isEmpty ? Self.noFormats : formats,
        ]
    }
}
