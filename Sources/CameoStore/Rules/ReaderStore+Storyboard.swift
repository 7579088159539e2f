package import CameoModel

extension ReaderStore {
    /// The track of a storyboard; nil if the URI is of something else.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if the thumbnail has not been made yet.
    package func storyboardTrack(of uri: CameoURI) async throws(StoreError) -> StoryboardTrack? {
        guard case .thumbnail(let id) = uri else { return nil }
        return StoryboardTrack(of: try await thumbnail(id))
    }
}
