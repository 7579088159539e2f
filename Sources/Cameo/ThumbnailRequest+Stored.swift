extension ThumbnailRequest {
    /// A request whose source is a stored picture.
    public init(source: CameoURI, renditions: [Rendition]) {
        self.init(source: source.text, renditions: renditions)
    }

    /// A request for a picture whose bytes are enqueued with it by ``Client/enqueue(_:data:cacheKey:)``.
    public init(renditions: [Rendition]) {
        self.init(source: "data:,", renditions: renditions)
    }
}
