internal import CameoModel
internal import Foundation

/// One thumbnail to make of a picture: the box in pixels that it fits, and how it is encoded.
///
/// The options that most programs need are here; a rendition with any other is read from its JSON form
/// (`proto-json/README.md`) by ``init(json:)``.
public struct Rendition: Hashable, Sendable {
    /// How a picture of another shape meets the box.
    public enum Fit: String, CaseIterable, Sendable {
        /// As large as fits inside the box, nothing cut.
        case inside
        /// Fills the box, what juts out is cut.
        case cover
        /// As `inside`, then padded to the box.
        case contain
        /// Exactly the box, the shape distorted.
        case fill
        /// As small as covers the box on both sides, nothing cut.
        case outside
    }

    /// What is written. `auto` is WebP in this version; `source` is the source's own format where that can be written.
    public enum Format: String, CaseIterable, Sendable {
        case auto, source, jpeg, png, webp, avif, gif
    }

    var model: CameoModel.Rendition

    /// Both edges in pixels; one may be nil and then follows from the picture's shape.
    ///
    /// - Parameters:
    ///   - width: 1 to 16383.
    ///   - height: 1 to 16383.
    ///   - fit: how a picture of another shape meets the box.
    ///   - format: what is written.
    ///   - quality: 1 to 100; nil for the format's default.
    ///   - name: what the requester calls it, unique within a request; nil: one made of box, fit and format.
    public init(
        width: Int? = nil,
        height: Int? = nil,
        fit: Fit = .inside,
        format: Format = .auto,
        quality: Int? = nil,
        name: String? = nil
    ) {
        model = CameoModel.Rendition(
            name: name,
            width: width,
            height: height,
            fit: CameoModel.Rendition.Fit(rawValue: fit.rawValue) ?? .inside,
            format: CameoModel.Rendition.Format(rawValue: format.rawValue) ?? .auto,
            quality: quality
        )
    }

    /// Reads a rendition with any option, as `{"width":320,"height":180,"fit":"cover","gravity":"attention"}`.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``
    public init(json: String) throws(CameoError) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: json)
        } catch {
            throw .invalidRequest(field: "rendition", reason: "malformed JSON: \(error)")
        }
        do throws(InvalidRequest) {
            model = try CameoModel.Rendition(json: value, at: "rendition")
        } catch {
            throw CameoError(error)
        }
    }

    /// What the requester calls it.
    public var name: String { model.name }
}
