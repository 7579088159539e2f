internal import CameoModel
internal import Foundation

/// A source that contains the picture itself: a `data:` URI or plain base64.
struct DataSource: SourceProvider {
    let schemes = ["data"]
    let maximumBytes: Int

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        let source = request.target
        let name = SourceName.of(source)
        // Percent-encoding takes at most three characters for a byte; a much longer text need not be decoded.
        guard source.utf8.count / 3 <= maximumBytes + 1_024 else { throw tooLarge(name, "more") }
        let picture: InlinePicture
        do throws(InvalidRequest) {
            picture = try InlinePicture(parsing: source)
        } catch {
            throw JobFailure.fetch(.sourceInvalid, "\(name) cannot be read: \(error.reason)")
        }
        guard !picture.bytes.isEmpty else { throw JobFailure.fetch(.sourceInvalid, "\(name) is empty") }
        guard picture.bytes.count <= maximumBytes else { throw tooLarge(name, "\(picture.bytes.count)") }
        if let type = picture.mediaType, let declared = PictureFormat(mediaType: type),
            !declared.covers(PictureFormat(sniffing: picture.bytes))
        {
            throw JobFailure.fetch(.sourceInvalid, "\(name) says that it is \(type), but its bytes are not")
        }
        return try memory(picture, name: name)
    }

    func shutdown() {}

    private func memory(_ picture: InlinePicture, name: String) throws(JobFailure) -> FetchedSource {
        do throws(Errno) {
            var download = try Download()
            for region in picture.bytes.regions {
                let failure = region.withUnsafeBytes { bytes -> Errno? in
                    do throws(Errno) { try download.append(bytes) } catch { return error }
                    return nil
                }
                if let failure { throw failure }
            }
            let body = try download.finish()
            return FetchedSource(
                sealed: body.file,
                bytes: body.bytes,
                digest: body.digest,
                mediaType: picture.mediaType
            )
        } catch {
            throw .fetch(name, lacking: error)
        }
    }

    private func tooLarge(_ name: String, _ bytes: String) -> JobFailure {
        .fetch(.sourceTooLarge, "\(name) has \(bytes) bytes, more than the allowed \(maximumBytes)")
    }
}
