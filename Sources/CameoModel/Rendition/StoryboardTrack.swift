/// What players need besides a storyboard's sheet to show its tiles above their seek bar: which part of the sheet belongs
/// to which span of the video.
package struct StoryboardTrack: Sendable {
    /// The tiles in order: the span in milliseconds, and the tile's place in the sheet.
    private let tiles: [(span: Range<Int>, left: Int, top: Int)]
    private let tile: PixelSize

    /// Nil unless the thumbnail is a storyboard of a video.
    package init?(of thumbnail: Thumbnail) {
        guard let storyboard = thumbnail.storyboard, let duration = thumbnail.facts.source.video?.duration else {
            return nil
        }
        let spans = storyboard.spans(of: duration)
        let columns = storyboard.columns(of: spans.count)
        let tile = PixelSize(thumbnail.width / columns, thumbnail.height / storyboard.rows(of: spans.count))
        tiles = spans.enumerated().map { index, span in
            (span, index % columns * tile.width, index / columns * tile.height)
        }
        self.tile = tile
    }

    /// A WebVTT file (https://www.w3.org/TR/webvtt1/) whose cues are media fragments of the sheet
    /// (https://www.w3.org/TR/media-frags/#naming-space), as players of videos read them. The address of the sheet is
    /// absolute, or relative to that of the file.
    package func webVTT(sheet: String) -> String {
        tiles.reduce(into: "WEBVTT\n") { text, tile in
            let times = "\(Self.time(tile.span.lowerBound)) --> \(Self.time(tile.span.upperBound))"
            text += "\n\(times)\n\(sheet)#xywh=\(tile.left),\(tile.top),\(self.tile.width),\(self.tile.height)\n"
        }
    }

    /// Hours, minutes, seconds and milliseconds.
    private static func time(_ milliseconds: Int) -> String {
        func padded(_ number: Int, _ digits: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let seconds = milliseconds / 1_000
        return "\(padded(seconds / 3_600)):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
            + ".\(padded(milliseconds % 1_000, 3))"
    }
}
