internal import CameoModel
internal import CameoStore

/// Something in `blobs/` that Cameo has not put there, or not in that way.
struct UnexpectedEntry: Hashable, Sendable, CustomStringConvertible {
    enum Fault: Hashable, Sendable {
        /// It has no name that Cameo gives, or is not what such a name stands for.
        case foreign
        /// Cameo makes none: what it leads to may be on another disk, and of somebody else.
        case link
        /// The bytes of a blob whose own file is missing or damaged.
        case misplaced(BlobDigest)
        case unreadable(Errno)
        case owned(by: UInt32, not: UInt32)
    }

    /// Within the store's folder.
    let path: String
    let kind: FolderEntry.Kind
    let fault: Fault

    var description: String {
        switch fault {
        case .foreign: "\(noun) \(path) is not Cameo's: move it elsewhere"
        case .link: "\(path) is a symbolic link: put what it leads to in its place"
        case .misplaced(let digest): "\(path) has the bytes of \(digest), whose own file is missing or damaged"
        case .unreadable(let reason): "\(noun) \(path) cannot be read: \(reason)"
        case .owned(let owner, let expected):
            "\(noun) \(path) belongs to user \(owner), the store to user \(expected): let `chown -R` give it back"
        }
    }

    private var noun: String {
        switch kind {
        case .file: "the file"
        case .folder: "the folder"
        case .link, .special: "what stands at"
        }
    }
}
