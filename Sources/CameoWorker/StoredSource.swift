internal import CameoFetch
internal import CameoModel
internal import CameoStore
internal import Foundation

/// Sources that the store itself holds: `cameo://blob/…` and `cameo://thumb/…`.
struct StoredSource: Sendable {
    let store: Store
    let maximumBytes: Int

    /// - Throws: `JobFailure` for a URI that names nothing yet, ``StoreError`` otherwise.
    func open(_ uri: CameoURI) async throws -> FetchedSource {
        if case .source = uri {
            throw JobFailure(
                .sourceUnsupportedScheme,
                at: .fetch,
                "\(uri): cached originals are not kept by this version"
            )
        }
        let data = try await data(of: uri)
        guard data.count <= maximumBytes else {
            throw JobFailure(.sourceTooLarge, at: .fetch, "\(uri) has \(data.count) bytes, more than \(maximumBytes)")
        }
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

    /// A thumbnail's URI may be used before it is made: then another attempt finds it.
    private func data(of uri: CameoURI) async throws -> Data {
        do {
            return try await store.data(of: uri)
        } catch StoreError.notFound {
            let isPromised = if case .thumbnail = uri { true } else { false }
            let state = isPromised ? "is not made yet" : "is not in the store"
            throw JobFailure(.sourceNotFound, at: .fetch, "\(uri) \(state)", isRetryable: isPromised)
        }
    }
}
