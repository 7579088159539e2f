internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. `blobs/` may be a link, to a folder on another disk. A copy of the store's folder then has a link to the same
// files, and its retention or repair would remove what the original needs. So a linked folder has the mark of one store:
// where its database is, and which file that is. A moved store is known by the file, one restored in its place by the
// path; a copy is neither. It reads there, keeps new bytes in its own rows, and removes nothing.
extension BlobFiles {
    static let ownerMark = "cameo-owner"

    /// Whose the files are, if `blobs/` is a link and they are another store's. Leaves this store's mark where there is
    /// none. Blocks.
    func others(leavingMark: Bool = true) -> OthersBytes? {
        guard isLinked, let known = owner ?? (leavingMark ? leaveMark() : nil), !known.hasPrefix(placePrefix),
            !known.hasSuffix(fileSuffix)
        else { return nil }
        return OthersBytes(location: directory.blobs, owner: known)
    }

    var isLinked: Bool {
        var status = stat()
        return lstat(directory.blobs, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Leaves this store's mark in place of any other.
    ///
    /// - Throws: `Errno`
    func adopt() throws {
        let temporary = directory.unfinishedBlob()
        try Data(mine.utf8).write(to: URL(filePath: temporary))
        guard rename(temporary, mark) == 0 else { throw Errno() }
    }

    private var mark: String { "\(directory.blobs)/\(Self.ownerMark)" }

    private var owner: String? { try? String(contentsOfFile: mark, encoding: .utf8) }

    /// - Returns: the mark that is there now, which another store may have left first.
    private func leaveMark() -> String? {
        let temporary = directory.unfinishedBlob()
        defer { unlink(temporary) }
        guard (try? Data(mine.utf8).write(to: URL(filePath: temporary))) != nil else { return nil }
        _ = link(temporary, mark)
        return owner
    }

    private var mine: String { placePrefix + fileSuffix }

    private var placePrefix: String { "store \(directory.path), " }

    private var fileSuffix: String {
        var status = stat()
        stat(directory.database, &status)
        return "file \(status.st_dev):\(status.st_ino)"
    }
}
