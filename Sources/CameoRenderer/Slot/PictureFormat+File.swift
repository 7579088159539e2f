internal import CameoModel
internal import Glibc

extension PictureFormat {
    /// Of a file that a renderer gets; nil for one that is of no format here, and if it cannot be read.
    init?(of file: OpenFile, holding kind: SourceKind) {
        switch kind {
        case .file: self.init(sniffing: file)
        case .initials: self = .initials
        }
    }

    /// The format that a file's first bytes announce. Nil for everything else, and if it cannot be read.
    private init?(sniffing file: OpenFile) {
        var start = [UInt8](repeating: 0, count: Self.sniffedBytes)
        var count: Int
        repeat { count = pread(file.descriptor, &start, start.count, 0) } while count < 0 && errno == EINTR
        self.init(sniffing: start.prefix(max(0, count)))
    }
}
