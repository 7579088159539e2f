internal import CameoModel
internal import Glibc

/// What a source has that thumbnails leave out.
extension SourceReader {
    /// The parts of the source that renditions leave out, from the header of a page.
    func omittedParts(_ header: borrowing VipsPicture) -> [PictureFacts.Part] {
        var parts: Set<PictureFacts.Part> = []
        if header.hasProfile, !header.hasFittingProfile { parts.insert(.colorProfile) }
        switch format {
        case .png: if PNGColor.isAnimated(bytes) { parts.insert(.animation) }
        case .jpeg: parts.formUnion(AttachedPictures.parts(ofJPEG: bytes))
        case .heif, .avif:
            if hasMovieBrand { parts.insert(.animation) }
            parts.formUnion(item.map { AttachedPictures.parts(of: $0, in: bytes) } ?? [])
        case .jxl: if isAnimatedJXL { parts.insert(.animation) }
        case .svg: parts.formUnion(lostParts)
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

extension UnsafeRawBufferPointer {
    /// Where a word is first found.
    func first(of word: String, from start: Int = 0) -> Int? {
        let word = Array(word.utf8)
        guard let base = baseAddress else { return nil }
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
