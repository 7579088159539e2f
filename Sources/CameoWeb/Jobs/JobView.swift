internal import CameoModel
internal import Foundation

/// A job as served over HTTP: the wire format without secrets, with this server's paths added to each thumbnail.
struct JobView {
    let json: JSONValue

    init(_ job: Job, _ site: Site) throws {
        var members = try Self.members(of: job.withoutSecrets)
        members["thumbnails"] = .array(try job.thumbnails.map { try Self.thumbnail($0, of: job.id, site) })
        json = .object(members)
    }

    static func members(of message: some Encodable) throws -> [String: JSONValue] {
        guard case .object(let members) = try JSONValue(parsing: try WireFormat.encode(message)) else { return [:] }
        return members
    }

    /// Adds this server's paths. The `url` of a thumbnail not made yet names its job, so that it can report a failure.
    static func thumbnail(_ thumbnail: RequestedThumbnail, of job: Int64?, _ site: Site) throws -> JSONValue {
        var members = try members(of: thumbnail)
        let isPending = thumbnail.blob == nil
        let query = isPending ? job.map { "?job=\($0)" } ?? "" : ""
        members["url"] = .string(site.path(to: thumbnail.uri) + query)
        if let blob = thumbnail.blob { members["blobURL"] = .string(site.path(to: blob)) }
        if thumbnail.thumbHash != nil, case .thumbnail(let id) = thumbnail.uri {
            members["placeholderURL"] = .string("\(site.configuration.basePath)/placeholder/\(id)")
        }
        return .object(members)
    }
}

/// An enqueue receipt as served over HTTP: the wire format, with this server's paths added to each thumbnail.
struct ReceiptView {
    let json: JSONValue

    init(_ receipt: EnqueueReceipt, _ site: Site) throws {
        var members = try JobView.members(of: receipt)
        members["thumbnails"] = .array(
            try receipt.thumbnails.map { try JobView.thumbnail($0, of: receipt.id, site) }
        )
        json = .object(members)
    }
}
