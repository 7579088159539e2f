internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func data(of digest: BlobDigest) async throws(StoreError) -> Data {
        let row = try await row(of: digest)
        let data: Data
        if let inline = row.data { data = inline } else { data = try await files.read(digest) }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes {
        let row = try await row(of: digest)
        guard let data = row.data else {
            return .file(try await files.file(of: digest, size: row.size), count: row.size)
        }
        guard SHA256.digest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return .inMemory(data)
    }
}
