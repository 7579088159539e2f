internal import CameoModel
internal import CameoStore
internal import Foundation

// A store that a group shares (``StoreAccess``): whether the group can use all of it. The death of a program between
// making a file and opening it to the group, what a copy brought, or the mode of a store that was private before, may
// leave something that one of its users cannot.
extension SQLiteStore {
    /// Nothing, for a private store.
    func checkAccess() async throws(StoreError) -> [CheckFinding] {
        let closed = try await files.perform { directory in
            StoreAccess.isShared(directory.path) ? try Self.closedPaths(in: directory) : nil
        }
        guard let closed else { return [] }
        let mend = """
            As root: `chgrp -R --reference=DIR DIR && chmod -R g+rwX DIR && find DIR -type d -exec chmod g+s {} +`
            """
        return [
            CheckFinding(
                "access",
                closed.map { "\($0) is closed to the group that shares the store" },
                naming: 3,
                ok: "the group that shares the store can use all of it",
                mend: mend.replacing("DIR", with: directory.path)
            )
        ]
    }

    /// - Throws: `Errno`
    private static func closedPaths(in directory: StoreDirectory) throws -> [String] {
        var store = stat()
        guard stat(directory.path, &store) == 0 else { throw Errno() }
        let locks = [directory.checkpointLock, directory.waitingLine, directory.setUpLock, directory.maintenanceLock]
        let database = ["", "-wal", "-shm"].map { directory.database + $0 }
        let folders = [directory.workers, directory.blobs].flatMap { [$0] + everything(in: $0) }
        return (database + locks + folders).filter { path in
            var status = stat()
            // What is not there, or has gone meanwhile, is nobody's trouble here.
            guard stat(path, &status) == 0 else { return false }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let needed: mode_t = isFolder ? 0o070 : 0o060
            return status.st_gid != store.st_gid || status.st_mode & needed != needed
        }.map { String($0.dropFirst(directory.path.count + 1)) }
    }

    /// Full paths. A folder that cannot be listed is a finding of the blobs' own.
    private static func everything(in folder: String) -> [String] {
        // By its own entry, as all of `blobs/` may be a link to another disk.
        let entries = (try? FolderEntry.all(in: folder + "/.")) ?? []
        return entries.flatMap { entry in
            let path = "\(folder)/\(entry.name)"
            return [path] + (entry.kind == .folder ? everything(in: path) : [])
        }
    }
}
