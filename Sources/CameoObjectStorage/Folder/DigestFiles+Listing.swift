internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Glibc

extension DigestFiles {
    /// A page of the files in the order of their digests. What else is in the folder is on the first page, and what else is
    /// in one of its folders stands between that folder's files.
    ///
    /// - Parameters:
    ///   - cursor: a file's path within the folder, after which the page begins; empty for the first page.
    ///   - limit: the maximum number of files.
    /// - Returns: the page.
    /// - Throws: `Errno`
    func page(after cursor: String, limit: Int) throws(Errno) -> StoredObjectPage {
        var page = StoredObjectPage()
        var (last, examined) = (cursor, 0)
        for name in try FolderListing.names(in: folder) where ![Self.mark, Self.owner, "tmp"].contains(name) {
            guard let entries = try entries(of: name) else {
                if cursor.isEmpty { page.foreign.append(name) }
                continue
            }
            guard name >= cursor.prefix(2) else { continue }
            for path in entries.lazy.map({ "\(name)/\($0)" }) where path > cursor {
                guard examined < limit else {
                    page.next = last
                    return page
                }
                examined += 1
                last = path
                try add(path, to: &page)
            }
        }
        return page
    }

    /// The names in a folder for digests; nil for anything else.
    private func entries(of name: String) throws(Errno) -> [String]? {
        guard BlobDigest(hex: name + String(repeating: "0", count: 62)) != nil else { return nil }
        do throws(Errno) {
            return try FolderListing.names(in: "\(folder)/\(name)")
        } catch {
            guard error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    private func add(_ path: String, to page: inout StoredObjectPage) throws(Errno) {
        var status = stat()
        guard lstat("\(folder)/\(path)", &status) == 0 else {
            // Removed since.
            if errno == ENOENT { return }
            throw Errno()
        }
        guard status.st_mode & S_IFMT == S_IFREG, let digest = BlobDigest(hex: path.prefix(2) + path.dropFirst(3))
        else {
            page.foreign.append(path)
            return
        }
        page.objects.append(StoredObject(digest: digest, size: Int(status.st_size), storedAt: status.modifiedAt))
    }

    /// Removes unfinished files that were last written before a time, and returns their number.
    func removeUnfinished(before time: Date) throws(Errno) -> Int {
        var removed = 0
        for name in try FolderListing.names(in: unfinished) where UUID(uuidString: name) != nil {
            let path = "\(unfinished)/\(name)"
            var status = stat()
            // One that is gone was finished, or removed by another host.
            guard lstat(path, &status) == 0, status.modifiedAt < time else { continue }
            guard unlink(path) == 0 else {
                if errno == ENOENT { continue }
                throw Errno()
            }
            removed += 1
        }
        return removed
    }
}

extension stat {
    fileprivate var modifiedAt: Date {
        Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9)
    }
}
