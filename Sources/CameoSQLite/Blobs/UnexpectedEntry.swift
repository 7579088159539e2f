internal import CameoModel
internal import CameoStore

/// An entry in `blobs/` that Cameo did not create, or not in that form.
struct UnexpectedEntry: Hashable, Sendable, CustomStringConvertible {
    enum Fault: Hashable, Sendable {
        /// The name is not one of Cameo's, or the entry has the wrong type for it.
        case foreign
        /// A symbolic link. Cameo creates none, and the target may be on another disk or belong to somebody else.
        case link
        /// The bytes of a blob whose own file is missing or damaged.
        case misplaced(BlobDigest)
        case unreadable(Errno)
        case owned(by: UInt32, not: UInt32)
    }

    /// The path within the store's folder.
    let path: String
    let kind: FolderEntry.Kind
    let fault: Fault

    var description: String {
        switch fault {
        case .foreign: "\(noun) \(path) is not Cameo's: move it elsewhere"
        case .link: "\(path) is a symbolic link: replace it with its target"
        case .misplaced(let digest): "\(path) has the bytes of \(digest), whose own file is missing or damaged"
        case .unreadable(let reason): "\(noun) \(path) cannot be read: \(reason)"
        case .owned(let owner, let expected):
            "\(noun) \(path) belongs to user \(owner), the store to user \(expected): change it back with `chown -R`"
        }
    }

    private var noun: String {
        switch kind {
        case .file: "the file"
        case .folder: "the folder"
        case .link: "the link"
        case .special: "the special file"
        }
    }
}
