internal import CameoFetch
internal import CameoModel
internal import CameoStore

/// Sources that the store itself holds: `cameo://blob/…` and `cameo://thumb/…`.
struct StoredSource: Sendable {
    let store: Store

    /// - Throws: `JobFailure` for a URI that names nothing yet, ``StoreError`` otherwise.
    func open(_ uri: CameoURI) async throws -> FetchedSource {
        if case .source = uri {
            throw JobFailure(
                .sourceUnsupportedScheme,
                at: .fetch,
                "\(uri): cached originals are not kept by this version"
            )
        }
        let data = try await store.data(of: uri)
        do throws(Errno) {
            return FetchedSource(
                sealed: try OpenFile.memory(containing: data),
                bytes: data.count,
                digest: SHA256.digest(of: data),
                mediaType: nil
            )
        } catch {
            throw JobFailure(.sourceUnreachable, at: .fetch, "\(uri): no memory for its \(data.count) bytes: \(error)")
        }
    }
}
