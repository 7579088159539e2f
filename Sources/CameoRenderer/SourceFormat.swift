/// The formats that a renderer decodes.
package enum SourceFormat: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, tiff, heif, avif
}
