internal import CameoModel

/// The kept part of a source's EXIF, written anew: only bytes of fields picked by their tag are copied.
struct EXIFBlock {
    /// The most bytes of a value; longer ones cannot be what their tags say.
    private static let longestValue = 8_192
    /// The most bytes of a block. A JPEG segment holds 65,533, including the six of `Exif`.
    private static let longestBlock = 65_000

    private let order: ByteOrder
    private let picture: [TIFFEntry]
    private let camera: [TIFFEntry]
    private let place: [TIFFEntry]

    /// `source` is EXIF as the loader found it; `texts`, by their tags, are what it has to say if it does not; `size` is the size of
    /// one frame of the thumbnail. `isSRGB` is false if the pixels keep another profile's values. Nil if nothing is left.
    init?(
        _ source: [UInt8]?,
        keeping keep: Set<Rendition.Encoding.Metadata>,
        _ texts: [Int: String],
        size: PixelSize,
        isSRGB: Bool
    ) {
        guard
            let file = source.flatMap(TIFFFile.init(exif:))
                ?? (texts.isEmpty ? nil : TIFFFile(exif: Array("II*\0".utf8)))
        else { return nil }
        order = file.order
        let first = file.firstDirectory
        let wanted =
            keep.contains(.exif) ? EXIFTag.ofPicture : keep.contains(.copyright) ? EXIFTag.ownership : []
        let known = Self.picked(first, wanted)
        let added = texts.filter { text in
            !known.contains { $0.tag == text.key && $0.value.contains { $0 != 0 && $0 != 0x20 } }
        }
        picture =
            known.filter { added[$0.tag] == nil }
            + added.map {
                TIFFEntry(tag: $0.key, type: 2, count: $0.value.utf8.count + 1, value: Array($0.value.utf8) + [0])
            }
        place =
            keep.contains(.gps)
            ? Self.picked(file.directory(of: EXIFTag.placeDirectory, in: first), EXIFTag.ofPlace) : []
        let shot =
            keep.contains(.exif)
            ? Self.picked(file.directory(of: EXIFTag.cameraDirectory, in: first), EXIFTag.ofCamera) : []
        let truth: [TIFFEntry] = [
            .number(EXIFTag.colorSpace, type: 3, isSRGB ? 1 : 0xFFFF, order),
            .number(EXIFTag.pixelWidth, size.width, order), .number(EXIFTag.pixelHeight, size.height, order),
        ]
        camera = shot.isEmpty ? [] : shot + truth
        guard !(picture.isEmpty && camera.isEmpty && place.isEmpty) else { return nil }
    }

    private static func picked(_ entries: [TIFFEntry], _ tags: Set<Int>) -> [TIFFEntry] {
        var seen: Set<Int> = []
        return entries.filter {
            tags.contains($0.tag) && (1...longestValue).contains($0.value.count) && seen.insert($0.tag).inserted
        }
    }

    /// The block as a TIFF file; nil if it does not fit into a JPEG segment.
    var bytes: [UInt8]? {
        var file: [UInt8] = Array((order == .big ? "MM\0*" : "II*\0").utf8)
        file.append(8, count: 4, order)
        let links = [(EXIFTag.cameraDirectory, camera), (EXIFTag.placeDirectory, place)].filter { !$0.1.isEmpty }
        var next = 8 + Self.length(of: picture) + links.count * 12
        var pointers: [TIFFEntry] = []
        for (tag, entries) in links {
            pointers.append(.number(tag, next, order))
            next += Self.length(of: entries)
        }
        append(picture + pointers, to: &file)
        for (_, entries) in links { append(entries, to: &file) }
        return file.count <= Self.longestBlock ? file : nil
    }

    /// The length of a directory with its values, each aligned to an even offset.
    private static func length(of entries: [TIFFEntry]) -> Int {
        entries.reduce(6 + entries.count * 12) { $0 + ($1.value.count > 4 ? $1.value.count + $1.value.count % 2 : 0) }
    }

    private func append(_ entries: [TIFFEntry], to file: inout [UInt8]) {
        var place = file.count + 6 + entries.count * 12
        var values: [UInt8] = []
        file.append(entries.count, count: 2, order)
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            file.append(entry.tag, count: 2, order)
            file.append(entry.type, count: 2, order)
            file.append(entry.count, count: 4, order)
            guard entry.value.count > 4 else {
                file += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
                continue
            }
            file.append(place, count: 4, order)
            let padded = entry.value + [UInt8](repeating: 0, count: entry.value.count % 2)
            values += padded
            place += padded.count
        }
        file.append(0, count: 4, order)
        file += values
    }
}

/// The EXIF fields (CIPA DC-008, version 3.0) that a thumbnail may keep: an allow list, so that no unknown field
/// passes.
///
/// Deliberately omitted: the orientation (already applied); MakerNote (opaque bytes that may contain a location);
/// everything that points to a preview or another directory; XMP, IPTC and Photoshop blocks; and fields that describe
/// the source's pixels rather than the thumbnail's (compression, colour primaries, subject position, focal plane).
enum EXIFTag {
    static let cameraDirectory = 0x8769
    static let placeDirectory = 0x8825
    static let artist = 0x013B
    static let copyright = 0x8298
    static let colorSpace = 0xA001
    static let pixelWidth = 0xA002
    static let pixelHeight = 0xA003

    static let ownership: Set<Int> = [artist, copyright]

    /// Description, make, model, resolution and its unit, software, date, artist, rating, copyright, and Windows'
    /// title, comment, author, keywords, subject.
    static let ofPicture = ownership.union([
        0x010E, 0x010F, 0x0110, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x4746, 0x4749, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E,
        0x9C9F,
    ])

    static let ofCamera: Set<Int> = {
        // Exposure time, F number, programme, sensitivities.
        var tags: Set<Int> = [0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835]
        // Version; dates and their zones.
        tags.formUnion([0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292])
        // Shutter speed to focal length; the user's comment.
        tags.formUnion(0x9201...0x920A)
        tags.insert(0x9286)
        // Temperature to camera elevation angle.
        tags.formUnion(0x9400...0x9405)
        // Flashpix version, flash energy, exposure index, sensing method, file source, scene type.
        tags.formUnion([0xA000, 0xA20B, 0xA215, 0xA217, 0xA300, 0xA301])
        // Custom rendering to sharpness; distance range; image id; owner, serial numbers, lens; title, people,
        // software.
        tags.formUnion(0xA401...0xA40A)
        tags.formUnion([0xA40C, 0xA420])
        tags.formUnion(0xA430...0xA43C)
        // Composite image.
        tags.formUnion([0xA460, 0xA461, 0xA462])
        return tags
    }()

    /// GPSVersionID to GPSHPositioningError.
    static let ofPlace = Set(0x0000...0x001F)
}

/// The EXIF of a JPEG file, which libvips does not get to see.
///
/// DESIGN: libvips parses EXIF two or three times a picture, prints every field into a string, and copies them all from each
/// operation to the next. Cameo needs the orientation, and the block as it is. So the segment's marker is overwritten in
/// the process's private copy of its page, by one that decoders skip.
struct EXIFSegment {
    /// The segment's payload, with its `Exif` prefix.
    let payload: Range<Int>
    /// The EXIF orientation, 1…8; 1 if the block names none.
    let orientation: Int

    /// The offset of the second byte of the segment's marker.
    var marker: Int { payload.lowerBound - 3 }

    /// The marker of segments that decoders skip: APP15.
    static let skipped: UInt8 = 0xEF

    private static let orientationTag = 0x0112
    private static let prefix = Array("Exif\0\0".utf8)

    /// Nil if the file has none, or if anything about it is unusual; libvips then reads it.
    init?(in jpeg: UnsafeRawBufferPointer) {
        guard jpeg.starts(with: [0xFF, 0xD8, 0xFF]), let payload = Self.onlyPayload(in: jpeg) else { return nil }
        self.init(payload: payload, of: jpeg)
    }

    /// Nil if anything about it is unusual.
    init?(payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        guard let file = TIFFFile(exif: Array(bytes[payload])) else { return nil }
        self.payload = payload
        guard let entry = file.firstDirectory.first(where: { $0.tag == Self.orientationTag }) else {
            orientation = 1
            return
        }
        guard entry.type == 3, entry.value.count == 2, let number = entry.value.number(at: 0, count: 2, file.order),
            (1...8).contains(number)
        else { return nil }
        orientation = number
    }

    /// The payload of the only EXIF segment before the first scan (ITU T.81, annex B).
    private static func onlyPayload(in jpeg: UnsafeRawBufferPointer) -> Range<Int>? {
        var found: Range<Int>?
        for (marker, _, payload) in JPEGSegments(jpeg) {
            if marker == 0xDA { return found }
            // No length follows the others.
            guard (0xC0...0xCF).contains(marker) || marker > 0xDA else { return nil }
            guard marker == 0xE1, jpeg[payload].starts(with: prefix) else { continue }
            guard found == nil else { return nil }
            found = payload
        }
        return nil
    }
}
