/// Sheets of many moments of a video, and their WebVTT files.
extension Rendition {
    /// Many moments of a video as the tiles of one sheet, in time order, row by row.
    ///
    /// The video is divided into as many equal spans as there are tiles, and a tile shows a frame of its span.
    public struct Storyboard: Hashable, Sendable {
        package static let sideRange = 1...maximumTiles
        package static let intervalRange = 0.1...100_000
        /// A tile costs as much as a thumbnail of a video.
        package static let maximumTiles = 100
        /// The most pixels of a sheet.
        package static let maximumPixels = 10_000_000

        /// The number of tiles in a row.
        public var columns: Int
        /// The number of rows of a video that fills them all.
        public var rows: Int
        /// The shortest span of a tile, in seconds: a short video has fewer tiles, and fewer rows. Nil for none.
        public var interval: Double?

        /// Creates a sheet of at most 100 tiles.
        public init(columns: Int, rows: Int, interval: Double? = nil) {
            (self.columns, self.rows, self.interval) = (columns, rows, interval)
        }
    }
}

extension Rendition.Storyboard {
    static let fields = ["columns", "rows", "interval"]

    package init(json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        guard let columns = try reader.integer("columns", in: Self.sideRange),
            let rows = try reader.integer("rows", in: Self.sideRange)
        else { throw InvalidRequest(path: path, reason: "needs columns and rows") }
        self.init(columns: columns, rows: rows, interval: try reader.number("interval", in: Self.intervalRange))
        guard tiles <= Self.maximumTiles else {
            throw InvalidRequest(path: path, reason: "has \(tiles) tiles, more than \(Self.maximumTiles)")
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["columns": .integer(Int64(columns)), "rows": .integer(Int64(rows))]
        if let interval { members["interval"] = .number(interval) }
        return .object(members)
    }

    /// The most tiles.
    package var tiles: Int { columns * rows }

    /// The columns and rows of a sheet that has so many tiles.
    package func columns(of tiles: Int) -> Int { min(columns, tiles) }
    package func rows(of tiles: Int) -> Int { (tiles + columns - 1) / columns }

    /// The size of the sheet, from that of a tile.
    package func size(of tile: PixelSize, tiles: Int) -> PixelSize {
        PixelSize(columns(of: tiles) * tile.width, rows(of: tiles) * tile.height)
    }

    /// The spans of the tiles of a video that has this duration in seconds: in milliseconds, in order, none empty.
    package func spans(of duration: Double) -> [Range<Int>] {
        let length = max(1, Int((duration * 1_000).rounded()))
        let shortest = max(1, Int(((interval ?? 0) * 1_000).rounded()))
        guard shortest * tiles >= length else {
            return (0..<tiles).map { $0 * length / tiles..<($0 + 1) * length / tiles }
        }
        return stride(from: 0, to: length, by: shortest).map { $0..<min($0 + shortest, length) }
    }
}

extension Thumbnail {
    /// What players need besides a storyboard's sheet to show its tiles above their seek bar: a WebVTT file
    /// (https://www.w3.org/TR/webvtt1/) whose cues are media fragments of the sheet
    /// (https://www.w3.org/TR/media-frags/#naming-space), whose address is absolute, or relative to that of the file. Nil
    /// unless the thumbnail is a storyboard of a video.
    package func webVTT(sheet: String) -> String? {
        guard let storyboard, let duration = source.video?.duration else { return nil }
        let spans = storyboard.spans(of: duration)
        let columns = storyboard.columns(of: spans.count)
        let tile = PixelSize(encoded.width / columns, encoded.height / storyboard.rows(of: spans.count))
        return spans.enumerated().reduce(into: "WEBVTT\n") { text, cue in
            let (index, span) = cue
            let (left, top) = (index % columns * tile.width, index / columns * tile.height)
            text += "\n\(Self.time(span.lowerBound)) --> \(Self.time(span.upperBound))\n"
            text += "\(sheet)#xywh=\(left),\(top),\(tile.width),\(tile.height)\n"
        }
    }

    /// Hours, minutes, seconds and milliseconds.
    private static func time(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1_000
        let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0.text(digits: 2) }
        return "\(parts.joined(separator: ":")).\((milliseconds % 1_000).text(digits: 3))"
    }
}
