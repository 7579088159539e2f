internal import CameoModel
internal import Foundation
internal import GRDB

// How a check and a repair walk over blobs and their files.
extension Store {
    private static let blobsInAPage = 500

    func eachPageOfBlobs(_ body: ([BlobDigest]) async throws(StoreError) -> Void) async throws(StoreError) {
        var last = ""
        while true {
            let after = last
            let page = try await read { db in
                try String.fetchAll(
                    db,
                    sql: "SELECT digest FROM blob WHERE digest > ? ORDER BY digest LIMIT ?",
                    arguments: [after, Self.blobsInAPage]
                )
            }
            guard let end = page.last else { return }
            last = end
            try await body(page.compactMap(BlobDigest.init(hex:)))
        }
    }

    /// Whether a blob's bytes are there and have its digest; true too for one that was collected since it was listed.
    func isWhole(_ digest: BlobDigest) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try await data(of: digest)
            return true
        } catch {
            switch error {
            case .damagedBlob: return false
            case .notFound: return true
            default: throw error
            }
        }
    }

    /// Digests whose files lie in a folder and which no row says to be there.
    func unnamedFiles(in folder: BlobFolder) async throws(StoreError) -> [BlobDigest] {
        let there = folder.digests
        guard !there.isEmpty else { return [] }
        let named = try await read { db in
            try String.fetchSet(
                db,
                sql: "SELECT digest FROM blob WHERE digest >= ? AND digest < ? || 'g' AND data IS NULL",
                arguments: [folder.prefix, folder.prefix]
            )
        }
        return there.filter { !named.contains($0.hex) }
    }
}

/// One of the 256 folders of `blobs/`.
struct BlobFolder: Sendable {
    /// The first two digits of the digests whose files lie in it.
    let prefix: String
    fileprivate let path: String

    fileprivate var digests: [BlobDigest] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap { BlobDigest(hex: prefix + $0) }.sorted { $0.hex < $1.hex }
    }
}

extension BlobFiles {
    /// Those that are there.
    var folders: [BlobFolder] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.blobs)) ?? []
        return names.filter { $0.count == 2 }.sorted().map { BlobFolder(prefix: $0, path: "\(directory.blobs)/\($0)") }
    }
}
