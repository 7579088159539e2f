package import CameoModel
package import CameoStore
internal import CameoSystem
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
        if existing == .kept { request.keepExisting() }
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
        guard !answer.isPage else { throw unreadable("the owner's mark", in: answer) }
        return answer.status == 404 ? nil : String(decoding: answer.body, as: UTF8.self)
    }

    package func setOwner(_ mark: String, existing: ExistingBytes) async throws(StoreError) {
        let body = Data(mark.utf8)
        var request = BucketRequest(
            method: .put,
            key: ownerKey,
            headers: [("content-type", "text/plain")],
            body: body,
            digest: BlobDigest(of: body)
        )
        if existing == .kept { request.keepExisting() }
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
        // The length of a coded answer is another.
        guard answer.coding == nil, let size = answer.headers["content-length"].flatMap({ Int($0) }) else {
            throw .failed("\(location): the server does not tell the size of an object")
        }
        return size
    }

    var root: String { client.name.prefix.isEmpty ? "" : "\(client.name.prefix)/" }

    var ownerKey: String { root + DigestFiles.owner }

    func key(of digest: BlobDigest) -> String { root + digest.path }

    /// The digest of an object by its key; nil for one that is not Cameo's.
    func digest(ofKey key: String) -> BlobDigest? {
        key.hasPrefix(root) ? BlobDigest(path: String(key.dropFirst(root.count))) : nil
    }

    /// A header's value; what could not stand in one is not sent.
    static func contentType(_ mediaType: String?) -> String {
        guard let mediaType, !mediaType.isEmpty, mediaType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return "application/octet-stream"
        }
        return mediaType.trimmingCharacters(in: .whitespaces)
    }

    /// The maximum size of a page's text in bytes: a thousand keys of up to 1,024 characters, each perhaps encoded, with
    /// what else is said of them.
    private static let pageBytes = 8_388_608

    /// The maximum number of pages without a key, one after the other.
    private static let emptyPages = 10_000

    /// Pages are asked for by the key that they begin after, so that a cursor never expires, and by the server's token only
    /// within one call.
    package func list(after cursor: String?, limit: Int) async throws(StoreError) -> StoredObjectPage {
        let query = [
            ("encoding-type", "url"), ("list-type", "2"), ("max-keys", String(min(max(limit, 1), 1_000))),
            ("prefix", self.root),
        ]
        var root = try await self.page(query + (cursor.map { [("start-after", self.root + $0)] } ?? []))
        // A server that passes over many removed keys may end a page before it finds one.
        var tokens: Set<String> = []
        while root["IsTruncated"] == "true", root.children("Contents").isEmpty {
            guard let token = root["NextContinuationToken"], tokens.count < Self.emptyPages,
                tokens.insert(token).inserted
            else { throw .failed("\(location): a listing has no end") }
            root = try await self.page(query + [("continuation-token", token)])
        }
        var page = StoredObjectPage()
        var last: String?
        for element in root.children("Contents") {
            guard let key = Self.decoded(element["Key"], root["EncodingType"] == "url") else {
                throw unreadable("a listing")
            }
            last = key
            guard let digest = digest(ofKey: key) else {
                // Some servers list what they keep as a folder.
                if !key.hasSuffix("/"), key != ownerKey { page.foreign.append(String(key.dropFirst(self.root.count))) }
                continue
            }
            guard let size = element["Size"].flatMap({ Int($0) }),
                let time = element["LastModified"].flatMap(WireFormat.date(from:))
            else { throw unreadable("a listing") }
            page.objects.append(StoredObject(digest: digest, size: size, storedAt: time))
        }
        guard root["IsTruncated"] == "true" else { return page }
        // A server that does not know where to begin would answer the same again.
        guard let last, (self.root + (cursor ?? "")).utf8.lexicographicallyPrecedes(last.utf8) else {
            throw .failed("\(location): a listing has no end")
        }
        page.next = String(last.dropFirst(self.root.count))
        return page
    }

    package func removeUnfinished(before time: Date) async throws(StoreError) -> Int {
        var (removed, marker, seen) = (0, [(name: String, value: String)](), Set<[String]>())
        while true {
            let root = try await page([("encoding-type", "url"), ("prefix", self.root), ("uploads", "")] + marker)
            let isEncoded = root["EncodingType"] == "url"
            for upload in root.children("Upload") {
                guard let key = Self.decoded(upload["Key"], isEncoded), let id = upload["UploadId"],
                    let begun = upload["Initiated"].flatMap(WireFormat.date(from:))
                else { throw unreadable("a listing of uploads") }
                guard begun < time, digest(ofKey: key) != nil else { continue }
                try await abort(id, of: key)
                removed += 1
            }
            guard root["IsTruncated"] == "true" else { return removed }
            let next = [
                ("key-marker", Self.decoded(root["NextKeyMarker"], isEncoded)),
                ("upload-id-marker", root["NextUploadIdMarker"]),
            ].compactMap { name, value in value.map { (name: name, value: $0) } }
            guard next.first?.value.isEmpty == false, seen.insert(next.map(\.value)).inserted else {
                throw .failed("\(location): a listing of uploads has no end")
            }
            marker = next
        }
    }

    private func page(_ query: [(name: String, value: String)]) async throws(StoreError) -> AnswerElement {
        let request = BucketRequest(
            method: .get,
            query: query,
            destination: BodyDestination(limit: Self.pageBytes),
            mayFailLate: true
        )
        let answer = try await client.send(request)
        // A page for people may be XML too.
        guard let root = AnswerParser.root(of: answer.body), root.name.hasPrefix("List") else {
            throw unreadable("a listing", in: answer)
        }
        return root
    }

    private func unreadable(_ what: String, in answer: HTTPResponse? = nil) -> StoreError {
        let reason = answer?.isPage == true ? ": an HTML page came in its place" : ""
        return .failed("\(location): \(what) cannot be read\(reason)")
    }

    /// A form of encoding in which a space may be a plus sign.
    private static func decoded(_ text: String?, _ isEncoded: Bool) -> String? {
        guard let text, isEncoded else { return text }
        let bytes = PercentEncoding.decoded(text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    package func data(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        let answer = try await get(digest, into: BodyDestination(limit: size), size: size)
        guard BlobDigest(of: answer.body) == digest else { throw .damagedBlob(digest: digest.description) }
        return answer.body
    }

    package func data(of digest: BlobDigest, range: Range<Int>, size: Int) async throws(StoreError) -> Data {
        // HTTP has no empty range.
        if range.isEmpty { return Data() }
        return try await get(digest, into: BodyDestination(limit: range.count), size: size, range: range).body
    }

    package func dataInParts(of digest: BlobDigest, size: Int) async throws(StoreError) -> Data {
        // A range of everything may be answered as if there were none.
        guard size > 1 else { return try await data(of: digest, size: size) }
        var data = Data()
        for part in [0..<size / 2, size / 2..<size] {
            let destination = BodyDestination(limit: part.count, needsNewConnection: true)
            data += try await get(digest, into: destination, size: size, range: part).body
        }
        guard BlobDigest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
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
        _ = try await get(digest, into: BodyDestination(file: file, limit: size), size: size)
        return .file(file, count: size)
    }

    /// An answer with as many bytes as were asked for.
    ///
    /// - Throws: ``StoreError/damagedBlob(digest:isMissing:)`` if the object has another size, as far as the answer shows
    ///   that; ``StoreError/unreadableBlob(path:reason:)`` if what came is not what is stored.
    private func get(
        _ digest: BlobDigest,
        into destination: BodyDestination,
        size: Int,
        range: Range<Int>? = nil
    ) async throws(StoreError) -> HTTPResponse {
        var request = BucketRequest(method: .get, key: key(of: digest), destination: destination, mayBeLong: true)
        request.accepted = [404, 416]
        if let range { request.headers.append(("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
        let answer = try await client.send(request)
        guard answer.status != 404 else { throw .notFound(uri: CameoURI.blob(digest).text) }
        // Of a coded answer, a range is one of the coded bytes.
        let isPart = range.map { part in
            answer.status == 206 && answer.coding == nil
                && answer.headers["content-range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        }
        let isWhole = answer.status == 200 && (range == nil || range == 0..<size)
        guard isPart == true || isWhole, !answer.isLong, answer.received == range?.count ?? size else {
            throw try await misfit(answer, digest, size, isPart: range != nil)
        }
        return answer
    }

    /// What is wrong if other bytes came than those of an object. By the listing, which nothing on the way codes or replaces,
    /// either the object has another size, or something else came in its place.
    private func misfit(
        _ answer: HTTPResponse,
        _ digest: BlobDigest,
        _ size: Int,
        isPart: Bool
    ) async throws(StoreError) -> StoreError {
        let query = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", "1"), ("prefix", key(of: digest))]
        let listed = try await page(query).children("Contents").first?["Size"]
        guard listed == String(size) else { return .damagedBlob(digest: digest.description, isMissing: listed == nil) }
        let what =
            switch (answer.isPage, answer.status, answer.coding) {
            case (true, _, _): "an HTML page"
            case (_, 206, let coding?): "a part of what is coded as \(coding)"
            case (_, 200, _) where isPart: "the whole, as if no range were asked for,"
            case (_, _, let coding?): "what is called \(coding)"
            default: "other bytes, as of a proxy that transforms pictures,"
            }
        let facts = ["content-type", "warning", "via", "server"].compactMap { name in
            answer.headers[name].map { ", \(name): \($0.prefix(80))" }
        }
        let came = "\(what) came in their place (status \(answer.status)\(facts.joined()))"
        return .unreadableBlob(path: "\(location)/\(digest.path)", reason: "its \(size) bytes are stored, and \(came)")
    }
}
