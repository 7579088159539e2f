internal import CameoModel
public import Foundation

/// What a program asks for: a picture and the renditions to make of it.
public struct ThumbnailRequest: Hashable, Sendable {
    var model: CameoModel.ThumbnailRequest

    /// Checked when it is enqueued.
    ///
    /// - Parameters:
    ///   - source: the picture's URI: `file:`, `http:`, `https:`, `data:`, `cameo:` or `initials:`; or the picture
    ///     itself in base64. Workers read files only in the folders that they were allowed.
    ///   - renditions: 1 to 32.
    public init(source: String, renditions: [Rendition]) {
        model = CameoModel.ThumbnailRequest(source: source, renditions: renditions.map(\.model))
    }

    /// A request for a stored picture.
    public init(source: CameoURI, renditions: [Rendition]) {
        self.init(source: source.description, renditions: renditions)
    }

    /// A request for a picture whose bytes are handed over with it, by ``Client/enqueue(_:data:cacheKey:)``.
    public init(renditions: [Rendition]) {
        self.init(source: "data:,", renditions: renditions)
    }

    /// Reads a request as `proto-json/thumbnail-request.schema.json` describes it.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``
    public init(json: String) throws(CameoError) {
        do throws(InvalidRequest) {
            model = try CameoModel.ThumbnailRequest(parsing: json.utf8)
        } catch {
            throw CameoError(error)
        }
    }

    /// The request as `proto-json/thumbnail-request.schema.json` describes it, on one line: to be kept in a table of the
    /// program's own until it is enqueued.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for what would be refused when it is enqueued.
    public func json() throws(CameoError) -> String {
        do throws(InvalidRequest) {
            try model.validate()
        } catch {
            throw CameoError(error)
        }
        return model.json.canonicalText
    }

    /// As it was given.
    public var source: String { model.source }

    /// The queue that it waits in: 1 to 64 of `a-z 0-9 . _ -`.
    public var queue: String {
        get { model.queue }
        set { model.queue = newValue }
    }

    /// −100 to 100, higher first. One step is worth a minute of waiting.
    public var priority: Int {
        get { model.priority }
        set { model.priority = newValue }
    }

    /// Not before this moment; nil: at once.
    public var runAt: Date? {
        get { model.runAt }
        set { model.runAt = newValue }
    }

    /// 1 to 25.
    public var maxAttempts: Int {
        get { model.maxAttempts }
        set { model.maxAttempts = newValue }
    }

    /// Seconds between attempts; what is nil is the worker's to say.
    public var retry: Retry {
        get { Retry(model.retry ?? RetryWish()) }
        set { model.retry = newValue == Retry() ? nil : newValue.model }
    }

    /// When thumbnails that exist already are made anew.
    public var refresh: Refresh {
        get { Refresh(model.refresh) }
        set { model.refresh = newValue.model }
    }

    /// Requests of one queue and one key are one job while it waits; nil: those for the same thumbnails are.
    public var uniqueKey: String? {
        get { model.uniqueKey }
        set { model.uniqueKey = newValue }
    }

    /// Jobs of one key, such as a tenant or a host, share a limit of how many run at once, over all queues and workers.
    public var concurrencyKey: String? {
        get { model.concurrencyKey }
        set { model.concurrencyKey = newValue }
    }

    /// The key's limit from now on, unless an operator has set it; nil leaves it, and a new key has 1.
    public var concurrencyLimit: Int? {
        get { model.concurrencyLimit }
        set { model.concurrencyLimit = newValue }
    }

    /// A label that jobs share, to ask for their progress together.
    public var batch: String? {
        get { model.batch }
        set { model.batch = newValue }
    }

    /// Sent with the HTTP request for the source. Requests with different headers have different thumbnails, so that
    /// what one tenant may see never answers another's request.
    public var headers: [String: String] {
        get { model.headers }
        set { model.headers = newValue }
    }
}
