internal import CJPEG
internal import CJXL
internal import CVips
internal import CWebP
internal import CameoModel
internal import Foundation

/// The sole owner of one reference to a `VipsImage`. No pointer leaves the `Vips` folder.
///
/// libvips is lazy: an operation only records what to do, and decoding happens in ``materialized()``. Images hold
/// references to their inputs, so an input may be dropped as soon as its output exists.
struct VipsPicture: ~Copyable {
    let image: UnsafeMutablePointer<VipsImage>

    /// Adopts the reference that `operation` stores. Nil if it failed; ``VipsLibrary/takeErrorText()`` may explain why.
    init?(_ operation: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32) {
        var result: UnsafeMutablePointer<VipsImage>?
        guard operation(&result) == 0, let image = result else {
            if let result { g_object_unref(result) }
            return nil
        }
        self.image = image
    }

    init?(adopting image: UnsafeMutablePointer<VipsImage>?) {
        guard let image else { return nil }
        self.image = image
    }

    /// What a step has made.
    ///
    /// - Throws: a failure of that step, if it has made nothing.
    static func result(
        of step: @autoclosure () -> String,
        _ picture: consuming VipsPicture?
    ) throws(ImagingError) -> VipsPicture {
        guard let picture else { throw .processingFailed(step: step()) }
        return picture
    }

    /// Another reference to the same pixels.
    func sharingReference() -> VipsPicture {
        g_object_ref(image)
        return VipsPicture(sole: image)
    }

    private init(sole image: UnsafeMutablePointer<VipsImage>) { self.image = image }

    /// The same pixels with a header of their own, which `change` may change.
    func copied(_ change: (UnsafeMutablePointer<VipsImage>) -> Void) -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        change(copy.image)
        return copy
    }

    deinit { g_object_unref(image) }

    /// How many parts of this header are a pixel of the source, on both axes: more than 1 for a drawing that is measured.
    /// Set only of a new picture.
    var measure: Int {
        get { number(Self.measureField) ?? 1 }
        nonmutating set { vips_image_set_int(image, Self.measureField, Int32(newValue)) }
    }

    private static let measureField = "cameo-measure"

    /// The height of one page if several are stacked vertically.
    var pageHeight: Int { Int(vips_image_get_page_height(image)) }

    /// The same pixels as frames of half a second that stand one below the other. Nil unless the height is a multiple.
    func rolled(frames: Int) -> VipsPicture? {
        guard frames > 0, height.isMultiple(of: frames) else { return nil }
        let delays = [Int32](repeating: 500, count: frames)
        return copied { copy in
            vips_image_set_int(copy, "page-height", Int32(height / frames))
            vips_image_set_int(copy, "n-pages", Int32(frames))
            vips_image_set_array_int(copy, "delay", delays, Int32(frames))
        }
    }

    /// Frames that stand one below the other, side by side, row by row; their number is a multiple of the columns.
    func grid(frames: Int, columns: Int) -> VipsPicture? {
        VipsPicture { cameo_vips_grid(image, $0, Int32(height / frames), Int32(columns), Int32(frames / columns)) }
    }

    /// How long each frame is shown, in milliseconds; empty if the file does not say.
    var delays: [Int] {
        var numbers: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        guard vips_image_get_typeof(image, "delay") != 0,
            vips_image_get_array_int(image, "delay", &numbers, &count) == 0, let numbers
        else { return [] }
        // libvips keeps ownership of the array.
        return UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init)
    }

    /// The number of repetitions, 0 for forever; nil if the file does not say.
    var loop: Int? { number("loop") }

    private func number(_ field: String) -> Int? {
        var number: Int32 = 0
        guard vips_image_get_typeof(image, field) != 0, vips_image_get_int(image, field, &number) == 0 else {
            return nil
        }
        return Int(number)
    }

    /// The width in pixels.
    var width: Int { Int(vips_image_get_width(image)) }
    /// The height in pixels.
    var height: Int { Int(vips_image_get_height(image)) }
    var size: PixelSize { PixelSize(width, height) }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }
    var colorBands: Int { hasAlpha ? bands - 1 : bands }
    /// The EXIF orientation, 1…8; 1 is upright.
    var orientation: Int { Int(vips_image_get_orientation(image)) }
    /// Whether the upright picture has width and height exchanged.
    var isTurnedSideways: Bool { vips_image_get_orientation_swap(image) != 0 }
    var pages: Int { Int(vips_image_get_n_pages(image)) }
    var hasProfile: Bool { vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0 }

    /// The offset of a crop's origin from its source's, as `cropped` and `smartCropped` leave it: the negated number of
    /// pixels removed at the left and at the top.
    var offset: (x: Int, y: Int) { (Int(image.pointee.Xoffset), Int(image.pointee.Yoffset)) }

    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    /// Whether its pixels are CIELAB of ten and eleven bits, packed into four bytes.
    var isPackedLab: Bool { vips_image_get_coding(image) == VIPS_CODING_LABQ }
    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    /// Whether a device profile can be applied, which needs integer device values.
    var hasDeviceNumbers: Bool {
        (format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT)
            && interpretation != VIPS_INTERPRETATION_LAB && interpretation != VIPS_INTERPRETATION_LABS
    }

    /// The most memory that a decoder may use for the whole picture: its pixels, twice for decoding in several passes.
    var decodingBytes: Int { width * height * bands * Int(vips_format_sizeof(format)) * 2 }

    /// The pixels' type in messages, such as `4 bands of short, labs`.
    var pixelDescription: String {
        let format = cameo_vips_format_name(format).map(String.init(cString:)) ?? "?"
        let space = cameo_vips_interpretation_name(interpretation).map(String.init(cString:)) ?? "?"
        return "\(bands) bands of \(format), \(space)"
    }
}

/// The operations behind the conversion of HDR light. All return nil if the operation failed.
extension VipsPicture {
    /// The largest integer value, for 8 or 16 bits.
    var largestNumber: Int { format == VIPS_FORMAT_USHORT ? 65_535 : 255 }

    /// Replaces every value by the table entry at that index, of its own band if the table has several.
    func mapped(throughNumbers table: [Float], bands: Int = 1) -> VipsPicture? {
        let size = PixelSize(table.count / bands, 1)
        let copy = table.withUnsafeBytes { Self.image(copying: $0, size, bands: bands, VIPS_FORMAT_FLOAT) }
        guard let table = VipsPicture(adopting: copy) else { return nil }
        return mapped(through: table)
    }

    /// Replaces every value by the table entry at that index, and labels the result with this space.
    func mapped(throughBytes table: [UInt8], space: VipsInterpretation) -> VipsPicture? {
        guard let table = VipsPicture(bytes: table, size: PixelSize(table.count, 1), bands: 1, space: space) else {
            return nil
        }
        return mapped(through: table)?.reinterpreted(as: space)
    }

    /// Maps 0…`highest` to clipped 16-bit integers, as table indices.
    func indexed(upTo highest: Double) -> VipsPicture? {
        scaled(by: [65_535 / highest], adding: [0])?.rounded()?.cast(to: VIPS_FORMAT_USHORT)
    }

    /// The largest of each pixel's three bands.
    func bandMaximum() -> VipsPicture? { VipsPicture { cameo_vips_band_maximum(image, $0) } }
}

/// Which part of a source is opened, and how.
struct LoadOptions: Hashable {
    /// The page to open, counted from 0.
    var page = 0
    /// Which picture of a TIFF page to open, of those that belong to it; -1: the page itself.
    var part = -1
    /// Whether to open all pages, stacked vertically.
    var allPages = false
    var shrink = ShrinkOnLoad.none
    /// Whether to decode a damaged file as far as possible; otherwise any damage is an error.
    var toleratesDamage = false
}

extension VipsPicture {
    /// Opens a picture with the loader of its format and reads only the header. Nil if the loader refuses it. The bytes
    /// must outlive the picture and everything made from it lazily.
    init?(opening bytes: UnsafeRawBufferPointer, as format: PictureFormat, _ options: LoadOptions) {
        guard let source = vips_source_new_from_memory(bytes.baseAddress, bytes.count) else { return nil }
        self.init(opening: source, as: format, options)
    }

    /// Opens a picture like ``init(opening:as:_:)``, but its bytes are copied.
    init?(openingCopyOf bytes: [UInt8], as format: PictureFormat, _ options: LoadOptions) {
        guard let blob = vips_blob_copy(bytes, bytes.count) else { return nil }
        defer { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
        guard let source = vips_source_new_from_blob(blob) else { return nil }
        self.init(opening: source, as: format, options)
    }

    /// Opens a picture from a source, and drops the caller's reference to it.
    private init?(opening source: UnsafeMutablePointer<VipsSource>, as format: PictureFormat, _ options: LoadOptions) {
        defer { g_object_unref(source) }
        let failOn = options.toleratesDamage ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR
        let page = Int32(options.page)
        let count: Int32 = options.allPages ? -1 : 1
        let scale = options.shrink.scale
        self.init { out in
            switch format {
            case .jpeg: cameo_vips_jpegload(source, out, failOn, options.shrink.divisor)
            case .webp: cameo_vips_webpload(source, out, failOn, page, count, scale)
            case .png, .video: cameo_vips_pngload(source, out, failOn)
            case .gif: cameo_vips_gifload(source, out, failOn, page, count)
            case .tiff: cameo_vips_tiffload(source, out, failOn, page, Int32(options.part))
            case .heif, .avif: cameo_vips_heifload(source, out, failOn, page)
            case .svg: cameo_vips_svgload(source, out, failOn, scale)
            case .pdf: cameo_vips_pdfload(source, out, failOn, page, scale)
            case .jxl: cameo_vips_jxlload(source, out, failOn)
            // Initials are drawn, not loaded: see InitialsDrawing.
            case .initials: -1
            }
        }
    }

    /// The most bytes of pixels that are decoded at once, and not row by row as they are needed.
    private static let bytesAtOnce = 16 << 20

    /// Decodes a whole JPEG or WebP file whose header is open, with the same pixels as libvips, whose loaders hand them on row
    /// by row through several caches: that takes a third of a WebP's time, and a quarter of a small JPEG's. Nil if libvips has
    /// to: if there are many pixels, several pages, or colours other than grey and RGB, or if the file is damaged.
    init?(
        decodingAtOnce file: UnsafeRawBufferPointer,
        as format: PictureFormat,
        _ header: borrowing VipsPicture,
        _ shrink: ShrinkOnLoad
    ) {
        // A WebP is shrunk by a divisor of its edges, too.
        let divisor = format == .webp ? Int((1 / shrink.scale).rounded()) : Int(shrink.divisor)
        let (width, height) = (Int32(header.width / divisor), Int32(header.height / divisor))
        guard width > 0, height > 0, Int(width) * Int(height) * header.bands <= Self.bytesAtOnce, header.pages == 1,
            header.format == VIPS_FORMAT_UCHAR,
            let picture = VipsPicture(adopting: cameo_vips_memory_like(header.image, width, height)),
            let start = vips_image_get_data(picture.image), let bytes = file.baseAddress
        else { return nil }
        let pixels = UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self)
        let (source, bands) = (bytes.assumingMemoryBound(to: UInt8.self), Int32(header.bands))
        let isDecoded =
            switch (format, bands) {
            case (.jpeg, 1), (.jpeg, 3):
                cameo_jpeg_decode(source, file.count, Int32(divisor), pixels, width, height, bands) == 0
            case (.webp, 3), (.webp, 4):
                cameo_webp_decode(source, file.count, Int32(divisor), pixels, width, height, bands) == 0
            default: false
            }
        guard isDecoded else { return nil }
        self = picture
    }

    /// A picture copied from 8-bit values, row by row, pixel by pixel, band by band.
    init?(bytes: [UInt8], size: PixelSize, bands: Int, space: VipsInterpretation) {
        let copy = bytes.withUnsafeBytes { Self.image(copying: $0, size, bands: bands, VIPS_FORMAT_UCHAR) }
        guard let plain = VipsPicture(adopting: copy), let picture = plain.reinterpreted(as: space) else { return nil }
        self = picture
    }

    /// The header of a JPEG XL file with the pixels of the first frame: libvips has those of the last. Nil if they cannot be
    /// decoded, or are others than those of the header.
    func firstFrame(ofJXL file: UnsafeRawBufferPointer) -> VipsPicture? {
        var frame = cameo_jxl_frame()
        defer { free(frame.pixels) }
        let bytes = file.bindMemory(to: UInt8.self)
        guard cameo_jxl_first_frame(bytes.baseAddress, bytes.count, &frame) == 0, let pixels = frame.pixels,
            PixelSize(Int(frame.width), Int(frame.height)) == size, Int(frame.bands) == bands,
            Int(frame.bits) == Int(vips_format_sizeof(format)) * 8
        else { return nil }
        let buffer = UnsafeRawBufferPointer(start: pixels, count: size.pixels * bands * Int(frame.bits) / 8)
        guard let first = VipsPicture(adopting: Self.image(copying: buffer, size, bands: bands, format)) else {
            return nil
        }
        return replacing(left: 0, top: 0, with: first)
    }

    private static func image(
        copying bytes: UnsafeRawBufferPointer,
        _ size: PixelSize,
        bands: Int,
        _ format: VipsBandFormat
    ) -> UnsafeMutablePointer<VipsImage>? {
        let (start, width, height) = (bytes.baseAddress, Int32(size.width), Int32(size.height))
        return vips_image_new_from_memory_copy(start, bytes.count, width, height, Int32(bands), format)
    }

    /// One band of zeros; it takes no memory.
    init?(zeros size: PixelSize) {
        self.init { cameo_vips_black($0, Int32(size.width), Int32(size.height)) }
    }

    /// Calls `body` with all pixels, computed if necessary: row by row, pixel by pixel, band by band. The picture must
    /// have 8-bit values. Nil if a pixel could not be computed.
    func withPixels<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard let pixels = materialized(), let start = vips_image_get_data(pixels.image) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: width * height * bands)
        return bytes.withMemoryRebound(to: UInt8.self) { body($0.span) }
    }

    /// The same pixels for operations that are to read them from top to bottom, once: they keep rows that they need again.
    func inRowOrder() -> VipsPicture? { copied { vips_image_set_int($0, VIPS_META_SEQUENTIAL, 1) } }

    /// The same pixels for operations that may read them in any order: they must be in memory.
    func inAnyOrder() -> VipsPicture? { copied { vips_image_remove($0, VIPS_META_SEQUENTIAL) } }

    /// Metadata that libvips' loaders pass on unchanged.
    enum MetadataField: String {
        case exif = "exif-data"
        case xmp = "xmp-data"
        case iptc = "iptc-data"
        case profile = "icc-profile-data"
    }

    /// Notes what libvips' loader would have noted of EXIF that it did not see. The picture must be new: a header that
    /// others share is not changed.
    func adopt(_ exif: EXIFSegment, of bytes: UnsafeRawBufferPointer) {
        let payload = bytes[exif.payload]
        vips_image_set_blob_copy(
            image,
            Self.unreadEXIF,
            UnsafeRawBufferPointer(rebasing: payload).baseAddress,
            payload.count
        )
        set(orientation: exif.orientation)
    }

    func set(orientation: Int) { vips_image_set_int(image, VIPS_META_ORIENTATION, Int32(orientation)) }

    /// EXIF that libvips has not read: it would parse a field of its own name at once.
    private static let unreadEXIF = "cameo-exif-data"

    /// The picture without a profile of other pixels than its own, which libvips would apply all the same: of a grey profile
    /// on RGB it makes alpha of green. Nil if libvips failed.
    func withFittingProfile() -> VipsPicture? {
        guard hasProfile, !hasFittingProfile else { return sharingReference() }
        return copied { vips_image_remove($0, MetadataField.profile.rawValue) }
    }

    /// Whether the profile is one of pixels like these, by its header (ICC.1:2022, 7.2). One of RGB describes grey as well.
    var hasFittingProfile: Bool {
        let spaces = isCMYK ? ["CMYK"] : colorBands < 3 ? ["GRAY", "RGB "] : ["RGB ", "Lab "]
        guard let profile = metadata(.profile), let kind = profile.name(at: 12), let space = profile.name(at: 16)
        else { return false }
        return ["scnr", "mntr", "prtr", "spac"].contains(kind) && spaces.contains(space)
    }

    func metadata(_ field: MetadataField) -> Data? {
        if field == .exif, let bytes = blob(Self.unreadEXIF) { return bytes }
        if let bytes = blob(field.rawValue) { return bytes }
        guard field == .xmp else { return nil }
        // libvips' loader of HEIF and AVIF recognises XMP only if it starts with `<x:xmpmeta`, but most programs write
        // a line before that. It stores such items as `heif-mime-<number>`; the bytes tell whether they are XMP.
        for index in 0..<Self.mostItems {
            if let bytes = blob("heif-mime-\(index)") { return bytes }
        }
        return nil
    }

    /// The text of a field of EXIF, without what libvips adds in parentheses: `VALUE (VALUE, ASCII, 20 components, 20 bytes)`.
    func exifText(_ field: String) -> String? {
        let name = "exif-\(field)"
        var start: UnsafePointer<CChar>?
        guard vips_image_get_typeof(image, name) != 0, vips_image_get_string(image, name, &start) == 0, let start,
            let text = String(validatingCString: start), let end = text.range(of: " (", options: .backwards)
        else { return nil }
        return String(text[..<end.lowerBound])
    }

    /// The texts of a PNG, by their keywords.
    var comments: [(keyword: String, text: String)] {
        guard let fields = vips_image_get_fields(image) else { return [] }
        defer { g_strfreev(fields) }
        var (found, index): ([(String, String)], Int) = ([], 0)
        while let field = fields[index].map({ String(cString: $0) }) {
            index += 1
            var text: UnsafePointer<CChar>?
            guard field.hasPrefix("png-comment-"), vips_image_get_string(image, field, &text) == 0, let text,
                let keyword = field.split(separator: "-", maxSplits: 3).dropFirst(3).first
            else { continue }
            found.append((String(keyword), String(cString: text)))
        }
        return found
    }

    /// The most metadata items of a file that are examined.
    private static let mostItems = 16

    private func blob(_ name: String) -> Data? {
        var bytes: UnsafeRawPointer?
        var count = 0
        guard vips_image_get_typeof(image, name) == vips_blob_get_type(),
            vips_image_get_blob(image, name, &bytes, &count) == 0, let bytes, count > 0
        else { return nil }
        return Data(bytes: bytes, count: count)
    }

    /// Converts to 8-bit sRGB by this profile, ignoring the picture's own.
    func converted(byProfile profile: Data) -> VipsPicture? {
        let labelled = copied { copy in
            profile.withUnsafeBytes {
                vips_image_set_blob_copy(copy, MetadataField.profile.rawValue, $0.baseAddress, $0.count)
            }
        }
        return labelled?.convertedByProfile()
    }
}

extension VipsLibrary {
    /// The sRGB profile that libvips ships.
    static func profileOfSRGB() -> Data? {
        var blob: UnsafeMutablePointer<VipsBlob>?
        guard cameo_vips_profile_load("srgb", &blob) == 0, let blob else { return nil }
        defer { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
        var count = 0
        return vips_blob_get(blob, &count).map { Data(bytes: $0, count: count) }
    }
}
