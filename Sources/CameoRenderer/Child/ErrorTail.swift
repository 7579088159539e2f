internal import CameoModel
internal import Glibc

/// The tail of a child's standard error. The pipe is always drained, so that the child never blocks.
struct ErrorTail {
    private static let keptBytes = 2_048
    /// The reads of 4 KiB per drain: a pipe holds 64 KiB (pipe(7)).
    private static let readsPerDrain = 16

    let pipe: OpenFile
    private(set) var isOpen = true
    private var bytes: [UInt8] = []

    /// - Parameter pipe: the read end, non-blocking.
    init(pipe: OpenFile) {
        self.pipe = pipe
    }

    /// Reads what is available, up to a bound that keeps the caller responsive: a child may write endlessly.
    mutating func drain() {
        var part = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<Self.readsPerDrain where isOpen {
            let count = read(pipe.descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count != 0 else { return isOpen = false }
            guard count > 0 else { return }
            bytes.append(contentsOf: part.prefix(count))
            if bytes.count > Self.keptBytes { bytes.removeFirst(bytes.count - Self.keptBytes) }
        }
    }

    private var lines: [Substring] { String(decoding: bytes, as: UTF8.self).lines.filter { !$0.isEmpty } }

    /// The last lines joined into one, as the child wrote them; empty if it wrote nothing.
    var text: String { lines.filter { !$0.hasPrefix(DeathNote.prefix) }.suffix(3).joined(separator: "; ") }

    /// The note that the child's crash handler left, if it ran.
    var deathNote: DeathNote? { lines.reversed().lazy.compactMap(DeathNote.init).first }
}
