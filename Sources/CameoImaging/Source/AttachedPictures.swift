internal import CameoModel

/// What a photograph's file has beside the picture: each has the most exact word.
enum AttachedPictures {
    /// Of a JPEG, by its segments: what XMP calls a part, ISO 21496-1, and the pictures of a multi-picture file (CIPA DC-007) that
    /// are no previews, each by what its own segments say.
    static func parts(ofJPEG file: UnsafeRawBufferPointer) -> Set<PictureFacts.Part> {
        var (parts, others): (Set<PictureFacts.Part>, [Int]) = ([], [])
        for payload in segments(of: file) {
            parts.formUnion(words(in: payload))
            if payload.starts(with: "MPF\0".utf8) { others += pictures(in: payload) }
        }
        let named = others.map { other in other > 0 ? segments(of: file, from: other).flatMap(words) : [] }
        parts.formUnion(named.joined())
        // The picture's own XMP tells of one that says nothing itself.
        if named.count(where: \.isEmpty) > parts.intersection([.gainMap, .depth]).count {
            parts.insert(.secondPicture)
        }
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
        if FileParts(.box, of: file).contains(where: { $0.name == "mpvd" }) { parts.insert(.motion) }
        return parts
    }

    private static func words(in payload: Slice<UnsafeRawBufferPointer>) -> Set<PictureFacts.Part> {
        if payload.starts(with: "urn:iso:std:iso:ts:21496:-1\0".utf8) { return [.gainMap] }
        guard payload.starts(with: "http://ns.adobe.com/xap/1.0/\0".utf8) else { return [] }
        let known: [PictureFacts.Part: [String]] = [
            .gainMap: ["hdrgm:Version", "aux:hdrgainmap", "Semantic=\"GainMap\""],
            .depth: ["Semantic=\"Depth", "GDepth:Data", "GDepth:Near"],
            .motion: ["MotionPhoto=\"1\"", "MicroVideo=\"1\"", "Semantic=\"MotionPhoto\""],
        ]
        let text = UnsafeRawBufferPointer(rebasing: payload)
        return Set(known.filter { $0.value.contains { text.first(of: $0) != nil } }.keys)
    }

    /// The payloads of APP1 and APP2 before the first scan.
    private static func segments(
        of file: UnsafeRawBufferPointer,
        from start: Int = 0
    ) -> [Slice<UnsafeRawBufferPointer>] {
        JPEGSegments(file, from: start).prefix { $0.marker != 0xDA }.filter { 0xE1...0xE2 ~= $0.marker }.prefix(256)
            .map { file[$0.payload] }
    }

    /// Where the pictures of a multi-picture file are that are neither the first nor previews; not positive if that is not told.
    private static func pictures(in payload: Slice<UnsafeRawBufferPointer>) -> [Int] {
        guard let file = TIFFFile(exif: Array(payload.dropFirst(4))),
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
