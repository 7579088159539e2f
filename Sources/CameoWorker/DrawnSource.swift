internal import CameoFetch
internal import CameoModel
internal import Foundation

/// An `initials:` source. There is nothing to fetch: a sealed memory file tells the renderer what to draw.
struct DrawnSource: Sendable {
    private let uri: String

    init(_ uri: String) {
        self.uri = uri
    }

    /// Describes the drawing to the renderer. The digest covers everything that the drawing depends on, so names that have
    /// the same letters and colours are the same picture.
    func open() throws(JobFailure) -> FetchedSource {
        let text: Data
        do throws(InvalidRequest) {
            text = Data(try Initials(parsing: uri).canonicalText.utf8)
        } catch {
            throw JobFailure(.sourceInvalid, at: .fetch, "\(uri) cannot be drawn: \(error.reason)")
        }
        do throws(Errno) {
            return FetchedSource(
                sealed: try OpenFile.memory(containing: text),
                bytes: text.count,
                digest: SHA256.digest(of: text),
                mediaType: nil,
                kind: .initials
            )
        } catch {
            throw JobFailure(.sourceUnreachable, at: .fetch, "\(uri): no memory for its \(text.count) bytes: \(error)")
        }
    }
}
