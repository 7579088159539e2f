package import CameoModel
package import Glibc

/// The protocol between worker and renderer.
///
/// DESIGN: one stream socket per renderer, at descriptor 3 in the child. Every message is a ``FrameHeader`` and a JSON
/// text; encoded pictures follow their message raw, so that nothing is copied or escaped.
///
///     child  → parent   hello      protocol and renderer version; the parent sends nothing before it arrives
///     parent → child    job        the renditions, with the descriptors of the source and its overlays beside the
///                              first byte (SCM_RIGHTS)
///     child  → parent   picture    what was made, followed by the encoded bytes of each rendition, in order
///                    or refusal    why nothing was made; of a partial video, what is missing
///
/// One job runs at a time. The parent trusts no answer: it checks lengths, counts, dimensions and magic bytes.
package enum RendererProtocol {
    /// The protocol version, raised with every change that an older peer would misread.
    package static let version = 7
    package static let socketDescriptor: Int32 = 3
    /// The first part of every renderer version, raised when the pixels that Cameo makes of a picture change.
    package static let imagingVersion = "cameo-6"
    /// The most bytes of a message's JSON text.
    package static let maximumMessageBytes = 1 << 20
}

/// The renderer's first message: it is ready, and describes itself.
package struct HelloMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.hello

    package private(set) var protocolVersion = RendererProtocol.version
    /// The version, such as `cameo-3 libvips-8.14.1`. Renderers of one version make the same bytes from the same job.
    package let rendererVersion: String
    package let sandbox: SandboxReport
    /// What its host's libraries cannot read or write.
    package let lacks: [HostLack]

    package init(rendererVersion: String, sandbox: SandboxReport, lacks: [HostLack] = []) {
        (self.rendererVersion, self.sandbox, self.lacks) = (rendererVersion, sandbox, lacks)
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        protocolVersion = try reader.integer("protocolVersion", in: 0...Int(Int32.max))
        rendererVersion = try reader.string("rendererVersion", maximumBytes: 256)
        guard rendererVersion.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw MalformedMessage("rendererVersion must be printable ASCII")
        }
        sandbox = try SandboxReport(json: try reader.value("sandbox"))
        // Whoever speaks an older protocol says nothing of it, and is told so by its version.
        let isToldLacks = reader.optional("lacks") != nil
        lacks = try isToldLacks ? reader.strings("lacks", maximumCount: 64) { HostLack($0) } : []
    }

    package var json: JSONValue {
        .object([
            "protocolVersion": .integer(Int64(protocolVersion)),
            "rendererVersion": .string(rendererVersion),
            "sandbox": sandbox.json,
            "lacks": .array(lacks.map { .string($0.description) }),
        ])
    }
}

/// The command line by which a worker starts `cameo-renderer`:
/// `cameo-renderer serve <protocol version> <parent's pid> <memory limit> <allowed formats, with commas, or ->`.
package struct RendererArguments: Hashable, Sendable {
    /// The protocol version; the child refuses any but its own.
    package private(set) var protocolVersion = RendererProtocol.version
    /// The worker's process; the renderer ends with it.
    package var parent: pid_t
    /// The limit of the address space in bytes (RLIMIT_AS).
    package var memoryLimitBytes: Int
    /// The formats of `PictureFormat.optional` that may be decoded.
    package var allowedFormats: Set<PictureFormat>

    private static let noFormats = "-"

    package init(parent: pid_t, memoryLimitBytes: Int, allowedFormats: Set<PictureFormat> = []) {
        (self.parent, self.memoryLimitBytes, self.allowedFormats) = (parent, memoryLimitBytes, allowedFormats)
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
        self.init(parent: parent, memoryLimitBytes: limit, allowedFormats: formats)
        protocolVersion = version
    }

    package var words: [String] {
        let formats = allowedFormats.map(\.rawValue).sorted().joined(separator: ",")
        return [
            "serve", "\(protocolVersion)", "\(parent)", "\(memoryLimitBytes)",
            formats.isEmpty ? Self.noFormats : formats,
        ]
    }
}
