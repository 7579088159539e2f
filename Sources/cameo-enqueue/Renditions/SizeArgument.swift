internal import ArgumentParser
internal import CameoModel

/// One `--size`: a box, optionally with its own fit, format or quality after colons.
struct SizeArgument {
    /// The size if the command line gives none.
    static let standard = "256x256"

    let text: String
    let width: Int?
    let height: Int?
    let fit: Rendition.Fit?
    let format: Rendition.Format?
    let quality: Int?

    /// Parses `256x256:cover:webp:q75`.
    init(_ text: String) throws(ValidationError) {
        self.text = text
        let size: RenditionSize
        do throws(InvalidRequest) {
            size = try RenditionSize(parsing: text)
        } catch {
            throw ValidationError("--size \(text): \(error.reason)")
        }
        (width, height, fit, format, quality) = (size.width, size.height, size.fit, size.format, size.quality)
    }

    /// A mistake in the rendition of this size, under the name of the option that caused it.
    func mistake(_ error: InvalidRequest) -> ValidationError {
        let path = error.path.split(separator: ".").map(String.init)
        let isOwn =
            switch path.first {
            case "width", "height", nil: true
            case "quality": quality != nil
            default: false
            }
        if isOwn { return ValidationError("--size \(text): \((path + [error.reason]).joined(separator: " "))") }
        return TypedOption.mistake(error)
    }
}
