internal import Glibc

extension PictureFormat {
    /// The format that a file's first bytes announce. Nil for everything else, and if it cannot be read.
    package init?(sniffing file: OpenFile) {
        var start = [UInt8](repeating: 0, count: Self.sniffedBytes)
        var count: Int
        repeat { count = pread(file.descriptor, &start, start.count, 0) } while count < 0 && errno == EINTR
        self.init(sniffing: start.prefix(max(0, count)))
    }
}
