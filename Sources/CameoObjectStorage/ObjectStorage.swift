package import CameoModel
package import CameoStore
package import Foundation

// DESIGN. An object's name is its digest, under the prefix and split as in a store's folder, and its bytes never change.
// So every call can be repeated, and whatever a server does when two put the same object at a time is right: one that
// knows `If-None-Match: *` keeps the first, another writes the same bytes again. `If-Match` is not used, since servers
// differ in it. The body's digest is signed with every request, and for an object put at once it is its name, so that the
// server itself refuses what was changed on the way.

/// Immutable bytes in S3-compatible storage.
package final class ObjectStorage: ByteStorage {
    let client: BucketClient
    var configuration: ObjectStorageConfiguration { client.configuration }

    package let location: String

    /// Nothing is sent until the first call.
    ///
    /// - Throws: ``StoreError/failed(_:)`` if libcurl cannot be used.
    package init(_ name: BucketName, configuration: ObjectStorageConfiguration = .init()) throws(StoreError) {
        client = try BucketClient(name, configuration)
        location = name.text
    }

    package func put(
        _ data: Data,
        as digest: BlobDigest,
        mediaType: String?,
        existing: ExistingBytes
    ) async throws(StoreError) -> PutResult {
        guard data.count <= configuration.largestPut else {
            return try await upload(data, as: digest, mediaType: mediaType, existing: existing)
        }
        var request = BucketRequest(
            method: .put,
            key: key(of: digest),
            headers: [("content-type", Self.contentType(mediaType))],
            body: data,
            digest: digest
        )
        guard existing == .kept else {
            _ = try await client.send(request)
            return .stored
        }
        request.headers.append(("if-none-match", "*"))
        request.accepted = [412, 501]
        switch try await client.send(request).status {
        case 412: return .existed
        case 501: break
        default: return .stored
        }
        // A server that does not know conditions.
        if try await size(of: digest) != nil { return .existed }
        return try await put(data, as: digest, mediaType: mediaType, existing: .replaced)
    }

    package func remove(_ digest: BlobDigest) async throws(StoreError) {
        _ = try await client.send(BucketRequest(method: .delete, key: key(of: digest), accepted: [404]))
    }

    package func owner() async throws(StoreError) -> String? {
        let answer = try await client.send(BucketRequest(method: .get, key: ownerKey, accepted: [404]))
        return answer.status == 404 ? nil : String(decoding: answer.body, as: UTF8.self)
    }

    package func setOwner(_ mark: String, existing: ExistingBytes) async throws(StoreError) {
        let body = Data(mark.utf8)
        var request = BucketRequest(
            method: .put,
            key: ownerKey,
            headers: [("content-type", "text/plain")],
            body: body,
            digest: SHA256.digest(of: body)
        )
        if existing == .kept {
            request.headers.append(("if-none-match", "*"))
            request.accepted = [412, 501]
        }
        // A server that does not know conditions: nobody else's mark was there a moment ago.
        guard try await client.send(request).status == 501 else { return }
        try await setOwner(mark, existing: .replaced)
    }

    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? {
        // The bytes of a name never change.
        var query = [(name: "response-cache-control", value: "public, max-age=31536000, immutable")]
        if let mediaType = terms.mediaType { query.append(("response-content-type", Self.contentType(mediaType))) }
        return try await client.temporaryURL(of: key(of: digest), query: query, on: terms)
    }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { client.origin(at: endpoint) }

    package func close() { client.threads.shutdown() }

    /// The size of an object in bytes; nil if there is none.
    func size(of digest: BlobDigest) async throws(StoreError) -> Int? {
        let answer = try await client.send(BucketRequest(method: .head, key: key(of: digest), accepted: [404]))
        guard answer.status != 404 else { return nil }
        guard let size = answer.headers["content-length"].flatMap({ Int($0) }) else {
            throw .failed("\(location): the server does not tell the size of an object")
        }
        return size
    }

    var root: String { client.name.prefix.isEmpty ? "" : "\(client.name.prefix)/" }

    var ownerKey: String { root + DigestFiles.owner }

    func key(of digest: BlobDigest) -> String { "\(root)\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))" }

    /// The digest of an object by its key; nil for one that is not Cameo's.
    func digest(ofKey key: String) -> BlobDigest? {
        guard key.hasPrefix(root) else { return nil }
        let name = key.dropFirst(root.count)
        guard name.utf8.count == 65, name.dropFirst(2).first == "/" else { return nil }
        return BlobDigest(hex: name.prefix(2) + name.dropFirst(3))
    }

    /// A header's value; what could not stand in one is not sent.
    static func contentType(_ mediaType: String?) -> String {
        guard let mediaType, !mediaType.isEmpty, mediaType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return "application/octet-stream"
        }
        return mediaType.trimmingCharacters(in: .whitespaces)
    }
}
