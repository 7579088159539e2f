internal import CameoModel

extension PictureFormat {
    /// The format of a file for a renderer; nil if it is unsupported or the file cannot be read.
    init?(of file: OpenFile, holding kind: SourceKind) {
        switch kind {
        case .file: self.init(sniffing: file)
        case .initials: self = .initials
        case .video, .partialVideo: self = .video
        }
    }
}
