package import CameoModel

/// The renderer's first message: it is ready, and describes itself.
package struct HelloMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.hello

    package let protocolVersion: Int
    /// The version, such as `cameo-3 libvips-8.14.1`. Renderers of one version make the same bytes from the same job.
    package let rendererVersion: String
    package let sandbox: SandboxReport
    /// What its host's libraries cannot read or write.
    package let lacks: [HostLack]

    package init(
        protocolVersion: Int = RendererProtocol.version,
        rendererVersion: String,
        sandbox: SandboxReport,
        lacks: [HostLack] = []
    ) {
        self.protocolVersion = protocolVersion
        self.rendererVersion = rendererVersion
        self.sandbox = sandbox
        self.lacks = lacks
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        protocolVersion = try reader.integer("protocolVersion", in: 0...Int(Int32.max))
        rendererVersion = try reader.string("rendererVersion", maximumBytes: 256)
        guard rendererVersion.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw MalformedMessage("rendererVersion must be printable ASCII")
        }
        sandbox = try SandboxReport(json: try reader.value("sandbox"))
        var lacks: [HostLack] = []
        // Whoever speaks an older protocol says nothing of it, and is told so by its version.
        if reader.optional("lacks") != nil {
            for value in try reader.array("lacks", maximumCount: 64) {
                guard case .string(let text) = value, let lack = HostLack(text) else {
                    throw MalformedMessage("lacks must name what the host cannot read or write")
                }
                lacks.append(lack)
            }
        }
        self.lacks = lacks
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
