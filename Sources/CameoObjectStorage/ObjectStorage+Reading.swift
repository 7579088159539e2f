package import CameoModel
package import CameoStore
package import Foundation

extension ObjectStorage {
    package func data(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        let answer = try await get(digest, into: .memory(limit: size), size: size)
        guard answer.received == size, SHA256.digest(of: answer.body) == digest else {
            throw .damagedBlob(digest: digest.description)
        }
        return answer.body
    }

    package func data(of digest: BlobDigest, range: Range<Int>, size: Int) async throws(StoreError) -> Data {
        // HTTP has no empty range.
        if range.isEmpty { return Data() }
        let answer = try await get(digest, into: .memory(limit: range.count), size: size, range: range)
        guard answer.body.count == range.count else { throw .damagedBlob(digest: digest.description) }
        return answer.body
    }

    package func bytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes {
        guard size > configuration.largestInMemory else { return .inMemory(try await data(of: digest, size: size)) }
        let folder = configuration.temporaryFolder
        let opened = await client.threads.run { _, _ in
            Result { () throws(Errno) in try OpenFile.unnamed(in: folder) }
        }
        let file: OpenFile
        switch opened {
        case .success(let opened): file = opened
        case .failure(let error): throw .cannotOpen(path: folder, reason: "\(error)")
        case nil: throw .unreachable(location: location, reason: "the storage was closed")
        }
        let answer = try await get(digest, into: .file(file, limit: size), size: size)
        guard answer.received == size else { throw .damagedBlob(digest: digest.description) }
        return .file(file, count: size)
    }

    /// - Throws: ``StoreError/damagedBlob(digest:)`` if the object has another size, as far as the answer shows that.
    private func get(
        _ digest: BlobDigest,
        into destination: BodyDestination,
        size: Int,
        range: Range<Int>? = nil
    ) async throws(StoreError) -> HTTPResponse {
        var request = BucketRequest(
            method: .get,
            key: key(of: digest),
            destination: destination,
            tooLong: .damagedBlob(digest: digest.description),
            accepted: [404, 416]
        )
        if let range { request.headers.append(("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        let answer = try await client.send(request)
        switch answer.status {
        case 404: throw .notFound(uri: CameoURI.blob(digest).text)
        case 416: throw .damagedBlob(digest: digest.description)
        case 206:
            guard let range,
                answer.headers["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            else { throw .damagedBlob(digest: digest.description) }
        default:
            guard range == nil || range == 0..<size else { throw .failed("\(location): the server ignores ranges") }
        }
        return answer
    }
}
