internal import CameoModel
internal import Foundation

extension ListedThumbnail {
    /// The last part of the source's name, without accents, and the thumbnail's size: `beach.jpg`, `256x171 webp, 9.8 KiB`.
    package var caption: PictureSheet.Caption {
        let name = job.source.map(SourceName.of) ?? "job \(job.id)"
        let isPath = !name.hasPrefix("data:")
        let last = (isPath ? name.split(separator: "/").last.map(String.init) : nil) ?? name
        return PictureSheet.Caption(
            name: last.folding(options: .diacriticInsensitive, locale: nil),
            size: "\(thumbnail.width ?? 0)x\(thumbnail.height ?? 0) \(thumbnail.format ?? ""), "
                + AmountText.bytes(thumbnail.bytes ?? 0)
        )
    }
}
