internal import CameoModel
internal import Glibc

extension PictureFormat {
    /// The format of a file for a renderer; nil if it is unsupported or the file cannot be read.
    init?(of file: OpenFile, holding kind: SourceKind) {
        switch kind {
        case .file: self.init(sniffing: file)
        case .initials: self = .initials
        }
    }

    /// The format by a file's first bytes; nil if it is unsupported or the file cannot be read.
    private init?(sniffing file: OpenFile) {
        var start = [UInt8](repeating: 0, count: Self.sniffedBytes)
        var count: Int
        repeat { count = pread(file.descriptor, &start, start.count, 0) } while count < 0 && errno == EINTR
        self.init(sniffing: start.prefix(max(0, count)))
    }
}
