internal import CameoModel

extension PictureFormat {
    /// Of a file that a renderer gets; nil for one that is of no format here, and if it cannot be read.
    init?(of file: OpenFile, holding kind: SourceKind) {
        switch kind {
        case .file: self.init(sniffing: file)
        case .initials: self = .initials
        }
    }
}
