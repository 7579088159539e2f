public import Foundation

/// What thumbnails to remove.
///
/// JSON form: an object with the name of the case and, if it is true, `evenShared`: `{"label":"user:42"}`;
/// `ForgetSelector` in `/openapi.json` of cameo-web.
public struct ForgetSelector: Hashable, Codable, Sendable {
    /// What names the thumbnails.
    public enum Selection: Hashable, Sendable {
        /// One thumbnail.
        case uri(ThumbnailID)
        /// Those that were made from a source, as it was requested; with them go its cached originals.
        case source(String)
        /// Those whose source begins so.
        case prefix(String)
        /// Those that requests with a label named, unless requests with another or without one did too.
        case label(String)
        /// Those of a batch, unless they are of another too.
        case batch(String)
        /// Those that a job asked for.
        case job(Int64)
    }

    /// What names them.
    public var selection: Selection
    /// Whether those of a label or batch are removed that others named too.
    public var evenShared: Bool

    /// Selects thumbnails.
    public init(_ selection: Selection, evenShared: Bool = false) {
        (self.selection, self.evenShared) = (selection, evenShared)
    }

    package init(json: JSONValue) throws(InvalidRequest) {
        let names = ["uri", "source", "prefix", "label", "batch", "job", "evenShared"]
        let reader = try JSONObjectReader(json, at: "", fields: names)
        let given = names.dropLast().filter { reader.value($0) != nil }
        guard given.count == 1 else {
            let list = names.dropLast().joined(separator: ", ")
            throw InvalidRequest(path: "", reason: "must have exactly one of \(list)")
        }
        func text() throws(InvalidRequest) -> String {
            let text = try reader.required(given[0], try reader.string(given[0]))
            guard !text.isEmpty else { throw InvalidRequest(path: given[0], reason: "must not be empty") }
            return text
        }
        switch given[0] {
        case "uri":
            let name = try text()
            guard let id = ThumbnailID(name.hasPrefix("cameo://thumb/") ? String(name.dropFirst(14)) : name) else {
                throw InvalidRequest(path: "uri", reason: "must be cameo://thumb/ and 32 lower-case hexadecimal digits")
            }
            selection = .uri(id)
        case "source": selection = .source(try text())
        case "prefix": selection = .prefix(try text())
        case "label": selection = .label(try text())
        case "batch": selection = .batch(try text())
        default:
            guard case .integer(let number)? = reader.value("job"), number > 0 else {
                throw InvalidRequest(path: "job", reason: "must be a job's number")
            }
            selection = .job(number)
        }
        evenShared = try reader.bool("evenShared") ?? false
    }

    package var json: JSONValue {
        var members: [String: JSONValue] =
            switch selection {
            case .uri(let id): ["uri": .string(CameoURI.thumbnail(id).text)]
            // A data: URI is known by the digest of its bytes.
            case .source(let name): ["source": .string((try? SourceIdentity(of: name))?.text ?? name)]
            case .prefix(let prefix): ["prefix": .string(prefix)]
            case .label(let name): ["label": .string(name)]
            case .batch(let name): ["batch": .string(name)]
            case .job(let id): ["job": .integer(id)]
            }
        if evenShared { members["evenShared"] = .bool(true) }
        return .object(members)
    }

    /// The JSON form, without the passwords of sources.
    package var shown: String {
        switch selection {
        case .source(let name): #"{"source":"\#(SourceName.of(name))"}"#
        case .prefix(let name): #"{"prefix":"\#(SourceName.of(name))"}"#
        default: json.canonicalText
        }
    }

    /// Whether what a job asks for is selected, which is not named otherwise.
    package func selects(_ request: ThumbnailRequest, of job: Int64) -> Bool {
        switch selection {
        case .label(let name): request.labels.contains(name) && (evenShared || request.labels == [name])
        case .batch(let name): request.batch == name
        case .job(let id): id == job
        case .uri, .source, .prefix: false
        }
    }

    /// Decodes the JSON form.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Encodes the JSON form.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// What was removed.
///
/// JSON form: `ForgetReceipt` in `/openapi.json` of cameo-web.
public struct ForgetReceipt: Hashable, Codable, Sendable {
    /// How many thumbnails were removed.
    public let thumbnails: Int
    /// How many bytes of thumbnails and originals nothing names any more.
    public let bytes: Int
    /// How many of these bytes are still on the disk or in the bucket, where nobody finds them; a worker removes them, if they
    /// are older than a minute, when it next removes what nothing refers to.
    public let bytesLeft: Int
    /// Until when a cache may show a thumbnail that it has, and a signed URL of a bucket is valid that somebody has: cameo-web
    /// cannot reach these. Nil elsewhere.
    public var cachedUntil, urlsValidUntil: Date?
    /// Whether something was selected: thumbnails, jobs that were to make some, or what was forgotten before.
    package var isKnown = true

    private enum CodingKeys: String, CodingKey { case thumbnails, bytes, bytesLeft, cachedUntil, urlsValidUntil }

    package init(thumbnails: Int, bytes: Int, bytesLeft: Int) {
        (self.thumbnails, self.bytes, self.bytesLeft) = (thumbnails, bytes, bytesLeft)
    }
}
