package import CameoModel

/// A worker's registration, visible to others.
package struct WorkerDescription: Hashable, Sendable {
    /// See ``isID(_:)``.
    package let id: String
    package let host: String
    package let pid: Int
    package let version: String
    /// The number of jobs that it runs at once.
    package let concurrency: Int
    /// The number of renderer processes that it keeps ready.
    package let renderers: Int
    /// The version of the pictures that its renderers make; nil: unknown.
    package let rendererVersion: String?
    /// When it takes jobs of background queues; nil: always.
    package let quietHours: QuietHours?
    /// The queues that it takes jobs of; nil: all.
    package let queues: [String]?
    /// What its host cannot do.
    package let lacks: [HostLack]

    package init(
        id: String,
        host: String,
        pid: Int,
        version: String,
        concurrency: Int,
        renderers: Int = 0,
        rendererVersion: String? = nil,
        quietHours: QuietHours? = nil,
        queues: [String]? = nil,
        lacks: [HostLack] = []
    ) {
        self.id = id
        self.host = host
        self.pid = pid
        self.version = version
        self.concurrency = concurrency
        self.renderers = renderers
        self.rendererVersion = rendererVersion
        self.quietHours = quietHours
        self.queues = queues
        self.lacks = lacks
    }

    /// Whether the text can name a worker and its lock file: 1 to 64 characters of A-Z a-z 0-9 _ - . that do not begin
    /// with a full stop.
    package static func isID(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...64).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
