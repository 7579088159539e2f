/// What a store tells others of a worker.
package struct WorkerDescription: Hashable, Sendable {
    /// See ``isID(_:)``.
    package let id: String
    package let host: String
    package let pid: Int
    package let version: String
    /// Jobs that it runs at once.
    package let concurrency: Int

    package init(id: String, host: String, pid: Int, version: String, concurrency: Int) {
        self.id = id
        self.host = host
        self.pid = pid
        self.version = version
        self.concurrency = concurrency
    }

    /// Whether it can name a worker, and the file that tells whether it lives: 1 to 64 of A-Z a-z 0-9 _ - and, but for the
    /// first, a full stop.
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
