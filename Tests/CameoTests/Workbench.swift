import Cameo
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Expects that a call is refused because of this field.
func expectInvalid(
    _ field: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async throws {
    let error = await #expect(throws: CameoError.self, sourceLocation: sourceLocation) { try await body() }
    guard case .invalidRequest(field, _)? = error else {
        Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
        return
    }
}

/// A store of one test's own, in which the test plays the worker.
struct Workbench: StoreBench {
    let folder: TemporaryFolder
    let store: any Store

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
    }

    var path: String { store.location }

    /// Where a blob of more than 100 KiB lies.
    func blobFile(of data: Data) throws -> URL {
        let hex = BlobDigest(of: data).hex
        return URL(filePath: "\(path)/blobs/\(hex.prefix(2))/\(hex.dropFirst(2))")
    }

    /// Puts other bytes into the place of these.
    func damage(_ data: Data) async throws {
        let file = try blobFile(of: data)
        guard !FileManager.default.fileExists(atPath: file.path) else {
            return try Data("damaged".utf8).write(to: file)
        }
        try await sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(BlobDigest(of: data).hex)';")
    }
}
