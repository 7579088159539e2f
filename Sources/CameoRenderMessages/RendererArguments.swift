package import Glibc

/// How a worker starts `cameo-renderer`: `cameo-renderer serve <protocol version> <parent's pid> <memory limit>`.
package struct RendererArguments: Hashable, Sendable {
    /// The child refuses another version than its own.
    package var protocolVersion: Int
    /// The process without which the renderer ends.
    package var parent: pid_t
    /// Bytes of address space (RLIMIT_AS).
    package var memoryLimitBytes: Int

    package init(protocolVersion: Int = RendererProtocol.version, parent: pid_t, memoryLimitBytes: Int) {
        self.protocolVersion = protocolVersion
        self.parent = parent
        self.memoryLimitBytes = memoryLimitBytes
    }

    /// - Parameter arguments: without the program's name. Anything but a worker's own spelling gives nil.
    package init?(_ arguments: some Collection<String>) {
        let words = Array(arguments)
        guard words.count == 4, words[0] == "serve", let version = Int(words[1]), let parent = pid_t(words[2]),
            let limit = Int(words[3]), parent > 0, limit > 0
        else { return nil }
        self.init(protocolVersion: version, parent: parent, memoryLimitBytes: limit)
    }

    package var words: [String] { ["serve", "\(protocolVersion)", "\(parent)", "\(memoryLimitBytes)"] }
}
