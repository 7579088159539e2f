internal import CameoModel

/// What a photograph's file has beside the picture: each has the most exact word.
enum AttachedPictures {
    /// Of a JPEG, by its segments: what XMP calls a part, ISO 21496-1, and the pictures of a multi-picture file (CIPA DC-007) that
    /// are no previews, each by what its own segments say.
    static func parts(ofJPEG file: UnsafeRawBufferPointer) -> Set<PictureFacts.Part> {
        var (parts, others): (Set<PictureFacts.Part>, [Int]) = ([], [])
        for payload in segments(of: file, from: 0) {
            parts.formUnion(words(in: payload))
            if payload.starts(with: "MPF\0".utf8) { others += pictures(in: payload) }
        }
        var unnamed = 0
        for other in others {
            let words = Set(other > 0 ? segments(of: file, from: other).flatMap(words) : [])
            parts.formUnion(words)
            if words.isEmpty { unnamed += 1 }
        }
        // The picture's own XMP tells of one that says nothing itself.
        if unnamed > parts.intersection([.gainMap, .depth]).count { parts.insert(.secondPicture) }
        // Samsung's programs put a film behind the picture.
        if file.suffix(4).elementsEqual("SEFT".utf8), file.first(of: "MotionPhoto_Data") != nil {
            parts.insert(.motion)
        }
        return parts
    }

    /// Of a HEIF file, by its boxes.
    static func parts(of item: HEIFItem, in file: UnsafeRawBufferPointer) -> Set<PictureFacts.Part> {
        var parts: Set<PictureFacts.Part> = item.hasToneMap ? [.gainMap] : []
        for type in item.auxiliaries {
            if type.hasSuffix(":hdrgainmap") { parts.insert(.gainMap) }
            if type.hasSuffix(":depth") || type.hasSuffix(":disparity") || type == "urn:mpeg:hevc:2015:auxid:2" {
                parts.insert(.depth)
            }
        }
        if HEIFItem.boxes(of: file).contains(where: { $0.name == "mpvd" }) { parts.insert(.motion) }
        return parts
    }

    private static func words(in payload: Slice<UnsafeRawBufferPointer>) -> Set<PictureFacts.Part> {
        if payload.starts(with: "urn:iso:std:iso:ts:21496:-1\0".utf8) { return [.gainMap] }
        guard payload.starts(with: "http://ns.adobe.com/xap/1.0/\0".utf8) else { return [] }
        let known: [(String, PictureFacts.Part)] = [
            ("hdrgm:Version", .gainMap), ("aux:hdrgainmap", .gainMap), ("Semantic=\"GainMap\"", .gainMap),
            ("Semantic=\"Depth", .depth), ("GDepth:Data", .depth), ("GDepth:Near", .depth),
            ("MotionPhoto=\"1\"", .motion),
            ("MicroVideo=\"1\"", .motion), ("Semantic=\"MotionPhoto\"", .motion),
        ]
        return Set(known.filter { UnsafeRawBufferPointer(rebasing: payload).first(of: $0.0) != nil }.map(\.1))
    }

    /// The payloads of APP1 and APP2 before the first scan.
    private static func segments(
        of file: UnsafeRawBufferPointer,
        from start: Int
    ) -> [Slice<UnsafeRawBufferPointer>] {
        var (found, offset): ([Slice<UnsafeRawBufferPointer>], Int) = ([], start + 2)
        while let marker = file.number(at: offset, count: 2), marker > 0xFFBF, marker != 0xFFDA, found.count < 256,
            let length = file.number(at: offset + 2, count: 2), length >= 2, length <= file.count - offset - 2
        {
            if marker == 0xFFE1 || marker == 0xFFE2 { found.append(file[offset + 4..<offset + 2 + length]) }
            offset += 2 + length
        }
        return found
    }

    /// Where the pictures of a multi-picture file are that are neither the first nor previews; not positive if that is not told.
    private static func pictures(in payload: Slice<UnsafeRawBufferPointer>) -> [Int] {
        guard let file = TIFFFile(Array(payload.dropFirst(4))),
            let entries = file.firstDirectory.first(where: { $0.tag == 0xB002 })?.value
        else { return [] }
        let starts = stride(from: 16, to: min(entries.count, 16 * 64), by: 16).filter { start in
            // By type; 1 and 2 of class 1 are previews.
            let type = entries.number(at: start, count: 4, file.order).map { $0 & 0xFF_FFFF } ?? 0
            return type >> 16 != 1
        }
        // Offsets count from the byte order mark.
        return starts.map { start in
            let offset = entries.number(at: start + 8, count: 4, file.order) ?? 0
            return offset > 0 ? payload.startIndex + 4 + offset : 0
        }
    }
}
