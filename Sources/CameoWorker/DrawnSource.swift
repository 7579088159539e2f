internal import CameoFetch
internal import CameoModel
internal import Foundation

/// `initials:`: nothing to fetch, the renderer draws it. It is told what by a sealed memory file.
struct DrawnSource: Sendable {
    private let uri: String

    init(_ uri: String) {
        self.uri = uri
    }

    /// The digest covers all that the drawing depends on, so that names which come to the same letters and colours are
    /// the same picture.
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
