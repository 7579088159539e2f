internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

/// Makes a contact sheet as a PNG. A renderer makes every small picture, and compresses the sheet.
struct PNGSheet {
    let store: any Store
    let batch: String?

    func make() async throws -> (png: Data, unreadable: [UnreadableThumbnail]) {
        var thumbnails: [ListedThumbnail] = []
        try await ThumbnailListing(store: store, batch: batch).forEach { thumbnail in
            guard thumbnails.count < PictureSheet.most else {
                throw CommandFailure("a PNG holds at most \(PictureSheet.most) thumbnails: choose a --batch", .failed)
            }
            thumbnails.append(thumbnail)
        }
        let renderer = try PreviewRenderer()
        do {
            let result = try await sheet(of: thumbnails, by: renderer)
            await renderer.end()
            return result
        } catch {
            await renderer.end()
            throw error
        }
    }

    private func sheet(
        of thumbnails: [ListedThumbnail],
        by renderer: PreviewRenderer
    ) async throws -> (png: Data, unreadable: [UnreadableThumbnail]) {
        var unreadable: [UnreadableThumbnail] = []
        var sheet = PictureSheet(count: thumbnails.count)
        let edge = PictureSheet.edge
        let tile = Rendition(
            width: edge,
            height: edge,
            fit: .contain,
            format: .png,
            background: Color(red: 255, green: 255, blue: 255, alpha: 255)
        )
        for (index, listed) in thumbnails.enumerated() {
            do {
                let data = try await store.data(of: listed.thumbnail.uri)
                let png = try await renderer.png(of: data, named: listed.thumbnail.uri.text, tile)
                sheet.place(Pixels(png: png), at: index, caption: listed.caption)
            } catch let error as StoreError {
                sheet.place(nil, at: index, caption: listed.caption)
                unreadable.append(
                    UnreadableThumbnail(job: listed.job.id, thumbnail: listed.thumbnail, reason: error)
                )
            }
        }
        let pixels = sheet.pixels
        let whole = Rendition(width: pixels.width, height: pixels.height, format: .png)
        return (try await renderer.png(of: pixels.png(), named: "the sheet", whole), unreadable)
    }
}
