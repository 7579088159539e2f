internal import CameoModel
internal import Glibc

extension SourceReader {
    /// The parts of the source that renditions leave out, from the header of a page.
    func omittedParts(_ header: borrowing VipsPicture) -> [PictureFacts.Part] {
        var parts: Set<PictureFacts.Part> = []
        if header.hasProfile, !header.hasFittingProfile { parts.insert(.colorProfile) }
        switch format {
        case .png: if PNGColor.isAnimated(bytes) { parts.insert(.animation) }
        case .heif, .avif: if hasMovieBrand { parts.insert(.animation) }
        case .svg: parts.formUnion(DrawingText.omittedParts(of: text ?? Array(bytes)))
        default: break
        }
        return parts.sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether a file names itself a sequence of pictures (ISO/IEC 23008-12, AV1 Image File Format).
    private var hasMovieBrand: Bool {
        let length = min(bytes.number(at: 0, count: 4) ?? 0, 256, bytes.count)
        let brands = stride(from: 8, to: length, by: 4).compactMap { bytes.name(at: $0) }
        return brands.contains { ["avis", "hevc", "hevx", "msf1"].contains($0) }
    }
}

extension DrawingText {
    /// What librsvg leaves out of a drawing. Its text is searched and not parsed, so what is in a comment counts too.
    fileprivate static func omittedParts(of text: [UInt8]) -> Set<PictureFacts.Part> {
        let words: [(String, PictureFacts.Part)] = [
            ("<foreignObject", .foreignObject), ("<script", .script), ("<animate", .animation), ("<set ", .animation),
            ("@media", .styles), ("var(--", .styles),
        ]
        var parts = Set(words.filter { text.first(of: $0.0) != nil }.map(\.1))
        var offset = 0
        while let found = text.first(of: "href", from: offset) {
            offset = found + 4
            // What EmbeddedPictures could not replace, and what would be another file.
            let value = text[offset...].prefix(64).drop { " \t\r\n='\"".utf8.contains($0) }
            let tag = text[..<found].lastIndex(of: UInt8(ascii: "<")).map { text[$0...].prefix(16).dropFirst() } ?? []
            let name = String(decoding: tag.prefix { !" \t\r\n/>".utf8.contains($0) }, as: UTF8.self)
            guard ["image", "use", "feImage"].contains(name.split(separator: ":").last) else { continue }
            if !["#", "data:image/png", "data:image/jp"].contains(where: { value.starts(with: $0.utf8) }) {
                parts.insert(.pictures)
            }
        }
        return parts
    }
}

extension [UInt8] {
    /// Where a word is first found.
    fileprivate func first(of word: String, from start: Int = 0) -> Int? {
        let word = Array(word.utf8)
        return withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var offset = start
            while offset + word.count <= count {
                guard let found = memchr(base + offset, Int32(word[0]), count - offset) else { return nil }
                offset = UnsafeRawPointer(found) - base
                if offset + word.count <= count, memcmp(found, word, word.count) == 0 { return offset }
                offset += 1
            }
            return nil
        }
    }
}
