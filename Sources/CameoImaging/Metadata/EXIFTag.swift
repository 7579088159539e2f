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
