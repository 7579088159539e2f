internal import CameoModel
internal import CameoStore
internal import Foundation

// Checks that the group can use everything in a shared store (``StoreAccess``). Files may be inaccessible because a
// program died between creating a file and opening it to the group, because they were copied in, or because the store
// was private before.
extension SQLiteStore {
    /// Checks access; no finding for a private store.
    func checkAccess() async throws(StoreError) -> [CheckFinding] {
        let closed = try await files.perform { directory in
            StoreAccess.isShared(directory.path) ? try Self.closedPaths(in: directory) : nil
        }
        guard let closed else { return [] }
        let advice = """
            As root: `chgrp -R --reference=DIR DIR && chmod -R g+rwX DIR && find DIR -type d -exec chmod g+s {} +`
            """
        return [
            CheckFinding(
                "access",
                closed.map { "\($0) is not accessible to the group that shares the store" },
                naming: 3,
                ok: "the group that shares the store can use all of it",
                advice: advice.replacing("DIR", with: directory.path)
            )
        ]
    }

    /// - Throws: `Errno`
    private static func closedPaths(in directory: StoreDirectory) throws -> [String] {
        var store = stat()
        guard stat(directory.path, &store) == 0 else { throw Errno() }
        let locks = [
            directory.checkpointLock, directory.waitingLine, directory.claimLock, directory.setUpLock,
            directory.maintenanceLock,
        ]
        let database = ["", "-wal", "-shm"].map { directory.database + $0 }
        let folders = [directory.workers, directory.blobs].flatMap { [$0] + everything(in: $0) }
        return (database + locks + folders).filter { path in
            var status = stat()
            // A file that does not exist, or no longer does, is not a problem here.
            guard stat(path, &status) == 0 else { return false }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let needed: mode_t = isFolder ? 0o070 : 0o060
            return status.st_gid != store.st_gid || status.st_mode & needed != needed
        }.map { String($0.dropFirst(directory.path.count + 1)) }
    }

    /// The full paths of everything in a folder. The check of blobs reports folders that cannot be listed.
    private static func everything(in folder: String) -> [String] {
        // Lists `folder/.`, because `blobs/` itself may be a link to another disk.
        let entries = (try? FolderEntry.all(in: folder + "/.")) ?? []
        return entries.flatMap { entry in
            let path = "\(folder)/\(entry.name)"
            return [path] + (entry.kind == .folder ? everything(in: path) : [])
        }
    }
}
