import Foundation

/// Changes of an MP4's boxes (ISO/IEC 14496-12, 4.2) whose samples come before them, as `ffmpeg` writes it without
/// `faststart`.
enum Boxes {
    /// The bytes before the boxes in a box of the type.
    private static let heads = ["stsd": 8, "avc1": 78, "hev1": 78]

    static func number(_ value: Int, _ bytes: Int) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    static func box(_ type: String, _ content: Data) -> Data {
        number(content.count + 8, 4) + Data(type.utf8) + content
    }

    /// The boxes with a change of the content of those at a path, of all tracks or of one. `nil` is no box.
    static func changed(
        _ boxes: Data,
        _ path: [String],
        track: Int? = nil,
        _ change: (Data) -> Data?
    )
        -> Data
    {
        var result = Data(), rest = Data(boxes), tracks = 0
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            var content: Data? = Data(rest.prefix(size).dropFirst(8))
            let isMeant = type == path[0] && (type != "trak" || track == nil || track == tracks)
            tracks += type == "trak" ? 1 : 0
            if isMeant, path.count == 1 {
                content = change(content ?? Data())
            } else if isMeant, let whole = content {
                let head = heads[type] ?? 0
                content =
                    whole.prefix(head) + changed(whole.dropFirst(head), Array(path.dropFirst()), track: track, change)
            }
            if let content { result += box(type, content) }
            rest = Data(rest.dropFirst(size))
        }
        return result
    }

    /// An entry of an edit list in thousandths of a second; `media` is -1 for an empty edit.
    struct Edit: Sendable {
        let duration: Int
        let media: Int
        var rate = 1.0
    }

    enum Form: CaseIterable, Sendable {
        case short, long, large, last
    }

    /// A list of edits, in 32 or 64 bits, or with a large size.
    static func list(_ edits: [Edit], _ form: Form) -> Data {
        let isLong = form == .long
        let entries = edits.map {
            number($0.duration, isLong ? 8 : 4) + number($0.media, isLong ? 8 : 4) + number(Int($0.rate * 65_536), 4)
        }
        let content = Data([isLong ? 1 : 0, 0, 0, 0]) + number(edits.count, 4) + entries.reduce(Data(), +)
        guard form == .large else { return box("elst", content) }
        return number(1, 4) + Data("elst".utf8) + number(content.count + 16, 8) + content
    }

    /// Gives the first track a list of edits in place of its own, before the media or behind.
    static func edited(_ movie: Data, _ edits: [Edit], _ form: Form = .short) -> Data {
        let without = changed(movie, ["moov", "trak", "edts"], track: 0) { _ in nil }
        return changed(without, ["moov", "trak"], track: 0) {
            let list = box("edts", list(edits, form))
            return form == .last ? $0 + list : $0.prefix(92) + list + $0.dropFirst(92)
        }
    }
}
