internal import CameoModel
package import CameoStore
package import Foundation

extension ObjectStorage {
    /// The maximum size of a page's text in bytes: a thousand keys of up to 1,024 characters, each perhaps encoded, with
    /// what else is said of them.
    private static let pageBytes = 8_388_608

    /// Pages are asked for by the key that they begin after, not by the server's token, so that a cursor never expires.
    package func list(after cursor: String?, limit: Int) async throws(StoreError) -> StoredObjectPage {
        let root = try await page(
            [
                ("encoding-type", "url"), ("list-type", "2"), ("max-keys", String(min(max(limit, 1), 1_000))),
                ("prefix", self.root),
            ] + (cursor.map { [("start-after", self.root + $0)] } ?? [])
        )
        var page = StoredObjectPage()
        var last: String?
        for element in root.children("Contents") {
            guard let key = key(element, isEncoded: root["EncodingType"] == "url") else {
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
        guard let last else { throw .failed("\(location): a listing has no end") }
        page.next = String(last.dropFirst(self.root.count))
        return page
    }

    package func removeUnfinished(before time: Date) async throws(StoreError) -> Int {
        var (removed, marker) = (0, [(name: String, value: String)]())
        while true {
            let root = try await page([("encoding-type", "url"), ("prefix", self.root), ("uploads", "")] + marker)
            let isEncoded = root["EncodingType"] == "url"
            for upload in root.children("Upload") {
                guard let key = key(upload, isEncoded: isEncoded), let id = upload["UploadId"],
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
            guard next.first?.value.isEmpty == false, next.map(\.value) != marker.map(\.value) else {
                throw .failed("\(location): a listing of uploads has no end")
            }
            marker = next
        }
    }

    private func page(_ query: [(name: String, value: String)]) async throws(StoreError) -> AnswerElement {
        let request = BucketRequest(
            method: .get,
            query: query,
            destination: .memory(limit: Self.pageBytes),
            mayFailLate: true
        )
        guard let root = AnswerParser.root(of: try await client.send(request).body) else {
            throw unreadable("a listing")
        }
        return root
    }

    private func unreadable(_ what: String) -> StoreError { .failed("\(location): \(what) cannot be read") }

    private func key(_ element: AnswerElement, isEncoded: Bool) -> String? { Self.decoded(element["Key"], isEncoded) }

    /// A form of encoding in which a space may be a plus sign.
    private static func decoded(_ text: String?, _ isEncoded: Bool) -> String? {
        guard let text, isEncoded else { return text }
        let bytes = PercentEncoding.decoded(text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
