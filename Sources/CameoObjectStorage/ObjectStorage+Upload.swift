internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation

// DESIGN. A large object is uploaded in parts, several at a time, each with its own digest. What fails or is cancelled is
// aborted, so that its parts do not stay and cost. An abort that fails too, or a process that dies, leaves them to
// ``removeUnfinished(before:)`` and to the bucket's own rule.
extension ObjectStorage {
    /// A limit of S3.
    private static let maximumParts = 10_000

    /// Uploads bytes in parts.
    func upload(
        _ data: Data,
        as digest: BlobDigest,
        mediaType: String?,
        existing: ExistingBytes
    ) async throws(StoreError) -> PutResult {
        // The condition is judged when the last part has been sent.
        if existing == .kept, try await size(of: digest) != nil { return .existed }
        let key = key(of: digest)
        let id = try await beginUpload(of: key, mediaType)
        do throws(StoreError) {
            let parts = try await uploadParts(of: data, of: key, id)
            let result = try await complete(id, of: key, digest, data.count, parts, existing)
            if result == .existed { await abortInAnyCase(id, of: key) }
            return result
        } catch {
            await abortInAnyCase(id, of: key)
            throw error
        }
    }

    func abort(_ id: String, of key: String) async throws(StoreError) {
        let query = [(name: "uploadId", value: id)]
        _ = try await client.send(BucketRequest(method: .delete, key: key, query: query, accepted: [404]))
    }

    private func beginUpload(of key: String, _ mediaType: String?) async throws(StoreError) -> String {
        let request = BucketRequest(
            method: .post,
            key: key,
            query: [("uploads", "")],
            headers: [("content-type", Self.contentType(mediaType))],
            body: Data()
        )
        guard let id = AnswerParser.root(of: try await client.send(request).body)?["UploadId"], !id.isEmpty else {
            throw .failed("\(location): the beginning of an upload has no id")
        }
        return id
    }

    /// The server's answers to the parts, in their order.
    private func uploadParts(of data: Data, of key: String, _ id: String) async throws(StoreError) -> [UploadedPart] {
        let size = max(configuration.partBytes, (data.count + Self.maximumParts - 1) / Self.maximumParts)
        let parts = stride(from: data.startIndex, to: data.endIndex, by: size).map { start in
            data[start..<min(start + size, data.endIndex)]
        }
        var uploaded = [UploadedPart](repeating: UploadedPart(tag: ""), count: parts.count)
        let failure = await withTaskGroup(of: (Int, Result<UploadedPart, StoreError>).self) { group -> StoreError? in
            var next = 0
            func addNext() {
                guard next < parts.count else { return }
                let (index, part) = (next, parts[next])
                next += 1
                group.addTask { (index, await self.uploadPart(part, index + 1, of: key, id)) }
            }
            for _ in 0..<max(1, self.configuration.partsAtOnce) { addNext() }
            for await (index, result) in group {
                switch result {
                case .success(let part): uploaded[index] = part
                case .failure(let error):
                    group.cancelAll()
                    return error
                }
                addNext()
            }
            return nil
        }
        if let failure { throw failure }
        return uploaded
    }

    private func uploadPart(
        _ part: Data,
        _ number: Int,
        of key: String,
        _ id: String
    ) async -> Result<UploadedPart, StoreError> {
        let request = BucketRequest(
            method: .put,
            key: key,
            query: [("partNumber", String(number)), ("uploadId", id)],
            headers: [("content-type", "application/octet-stream")],
            body: part,
            digest: BlobDigest(of: part)
        )
        do throws(StoreError) {
            let headers = try await client.send(request).headers
            guard let tag = headers["etag"] else {
                return .failure(.failed("\(location): the server gives a part no entity tag"))
            }
            return .success(UploadedPart(tag: tag, checksum: headers[BucketRequest.checksumHeader + "sha256"]))
        } catch {
            return .failure(error)
        }
    }

    private func complete(
        _ id: String,
        of key: String,
        _ digest: BlobDigest,
        _ size: Int,
        _ parts: [UploadedPart],
        _ existing: ExistingBytes
    ) async throws(StoreError) -> PutResult {
        let texts = parts.enumerated().map { index, part in
            let checksum = part.checksum.map { "<ChecksumSHA256>\($0.escapedForMarkup)</ChecksumSHA256>" } ?? ""
            return
                "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(part.tag.escapedForMarkup)</ETag>\(checksum)</Part>"
        }
        let body = Data("<CompleteMultipartUpload>\(texts.joined())</CompleteMultipartUpload>".utf8)
        var request = BucketRequest(
            method: .post,
            key: key,
            query: [("uploadId", id)],
            headers: [("content-type", "application/xml")],
            body: body,
            digest: BlobDigest(of: body),
            accepted: [404],
            // Servers may take minutes to put parts together.
            silence: .seconds(300),
            mayFailLate: true
        )
        if existing == .kept { request.keepExisting() }
        switch try await client.send(request).status {
        case 412: return .existed
        case 501: return try await complete(id, of: key, digest, size, parts, .replaced)
        case 404:
            // The upload is gone: by an attempt whose answer was lost, or removed.
            guard try await self.size(of: digest) == size else {
                throw .unreachable(location: location, reason: "an upload was removed before its end")
            }
            return .stored
        default: return .stored
        }
    }

    /// Also for a cancelled task, whose own calls would end at once.
    private func abortInAnyCase(_ id: String, of key: String) async {
        // The caller's error is the one to report; see DESIGN for what stays.
        await Task(executorPreference: OwnThread()) { try? await self.abort(id, of: key) }.value
    }
}

/// What a server says of a part that it has.
private struct UploadedPart: Sendable {
    var tag: String
    /// The checksum, if the server keeps one: it then asks for it at the end. Others may refuse an end that names one.
    var checksum: String?
}
