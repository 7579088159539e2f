internal import CameoModel
internal import Glibc

/// What a child writes to its standard error: always read, so that it never blocks, and its end kept.
struct ErrorTail {
    private static let keptBytes = 2_048

    let pipe: OpenFile
    private(set) var isOpen = true
    private var bytes: [UInt8] = []

    /// - Parameter pipe: the reading end, non-blocking.
    init(pipe: OpenFile) {
        self.pipe = pipe
    }

    /// Reads what is there.
    mutating func drain() {
        var part = [UInt8](repeating: 0, count: 4_096)
        while isOpen {
            let count = read(pipe.descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count != 0 else { return isOpen = false }
            guard count > 0 else { return }
            bytes.append(contentsOf: part.prefix(count))
            if bytes.count > Self.keptBytes { bytes.removeFirst(bytes.count - Self.keptBytes) }
        }
    }

    private var lines: [Substring] { String(decoding: bytes, as: UTF8.self).split(separator: "\n") }

    /// The last lines as one printable line; empty if the child said nothing.
    var text: String {
        let own = lines.filter { !$0.hasPrefix(DeathNote.prefix) }.suffix(3).joined(separator: "; ")
        return String(String.UnicodeScalarView(own.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    /// What the child's crash handler left, if it ran.
    var deathNote: DeathNote? { lines.reversed().lazy.compactMap(DeathNote.init).first }
}
