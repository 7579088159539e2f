internal import CJXL
internal import CMemory
internal import CZlib
package import CameoModel
internal import CameoSystem
internal import Foundation
internal import Glibc

/// What sources may be, and how they are read.
struct SourceRules {
    let limits: RenderLimits
    /// The optional formats that may be decoded.
    let allowedFormats: Set<PictureFormat>
    var toleratesDamage = false
    /// In how many drawings the source lies.
    var depth = 0
}

/// Identifies and opens the bytes of one source, and checks its header against the limits before anything is decoded. A
/// file's format is detected by Cameo, not by libvips.
struct SourceReader {
    let bytes: UnsafeRawBufferPointer
    /// The EXIF that libvips does not see.
    private let exif: EXIFSegment?
    let format: PictureFormat
    private let rules: SourceRules
    /// The drawing of initials, which are not decoded.
    private let drawing: InitialsDrawing?
    /// The text of an SVG drawing where it had to be changed to be read.
    let text: [UInt8]?
    /// What the drawing loses by being drawn by librsvg.
    let lostParts: Set<PictureFacts.Part>
    /// What a HEIF or AVIF file says of its picture.
    let item: HEIFItem?
    /// What `cameo-frames` says of its picture, whose frames stand one below the other; nil for a source that is no video.
    private let video: VideoFrameHeader?

    /// Throws unless the format is supported, allowed and decodable, so that no other format reaches a decoder.
    init(_ source: borrowing SourceMapping, _ rules: SourceRules) throws(ImagingError) {
        let (bytes, kind) = (source.bytes, source.kind)
        video = kind == .video ? VideoFrameHeader(in: bytes) : nil
        let format: PictureFormat
        switch kind {
        case .file:
            guard let sniffed = PictureFormat(sniffing: bytes) else {
                throw .unsupportedFormat(looksLike: ForeignFormat.guess(from: bytes))
            }
            format = sniffed
        case .video, .partialVideo:
            guard PictureFormat(sniffing: bytes) == .png, video != nil else {
                throw .unsupportedFormat(looksLike: nil)
            }
            format = .video
        case .initials: format = .initials
        }
        drawing = kind == .initials ? try InitialsDrawing(bytes) : nil
        guard !PictureFormat.optional.contains(format) || rules.allowedFormats.contains(format) else {
            let option = "--allow-format \(format.rawValue)"
            throw ImagingError(.unsupportedFormat, "is a \(format.name) file, which is only decoded with \(option)")
        }
        guard VipsLibrary.decodes(format) else {
            throw ImagingError(.unsupportedFormat, "is a \(format.name) file, for which this libvips has no decoder")
        }
        let longest = rules.limits.drawingBytes
        guard format != .svg || bytes.count <= longest else {
            let predicate = "is an SVG drawing of \(bytes.count) bytes, more than the limit of \(longest)"
            throw ImagingError(.tooManyPixels, predicate)
        }
        self.bytes = bytes
        exif = source.exif
        self.format = format
        self.rules = rules
        item = format == .heif || format == .avif ? HEIFItem(in: bytes) : nil
        let plain = format == .svg ? DrawingText.transcoded(bytes) : nil
        var pictures = EmbeddedPictures(rules)
        let drawing = format == .svg ? ReadableDrawing(plain ?? Array(bytes)) { pictures.readable($0) } : nil
        (text, lostParts) = (drawing?.text ?? plain, drawing?.omitted ?? [])
    }

    /// Opens the source; only the header is read.
    func open(
        page: Int = 0,
        allPages: Bool = false,
        shrink: ShrinkOnLoad = .none
    ) throws(ImagingError) -> VipsPicture {
        if let drawing { return try drawing.picture(scale: shrink.scale) }
        let isTolerant = rules.toleratesDamage
        var options = LoadOptions(page: page, allPages: allPages, shrink: shrink, toleratesDamage: isTolerant)
        let choice = format == .tiff ? TIFFChoice(page: page, in: bytes) : nil
        if let choice { (options.page, options.part) = (choice.page, choice.part) }
        if format == .tiff, choice == nil, page == 0, let form = SampleForm.unsupported(in: bytes, as: format) {
            throw .unsupportedPixels(form)
        }
        guard let picture = opened(options) else {
            // libvips allocates a whole frame to open a WebP file.
            if let canvas, !AddressSpace.hasRoom(for: 4 * canvas.pixels) { throw .outOfMemory }
            throw .corrupt(format)
        }
        VipsLibrary.forgetErrors()
        if let choice {
            if let orientation = choice.orientation { picture.set(orientation: orientation) }
            guard let plain = choice.directory.withoutOtherSamples(picture) else { throw .corrupt(format) }
            return plain
        }
        if let exif { picture.adopt(exif, of: bytes) }
        // It is read later, by ``HEIFItem``.
        if page == 0, item?.otherOpacity != nil {
            return try .result(of: "opacity", picture.withAlpha())
        }
        guard let frames = video?.frames, frames != 1 else { return picture }
        guard let roll = picture.rolled(frames: frames) else { throw .corrupt(format, detail: "no roll of frames") }
        return roll
    }

    /// The pixels of a picture whose header is open, if they may be decoded at once.
    func pixels(_ header: borrowing VipsPicture, _ shrink: ShrinkOnLoad) -> VipsPicture? {
        guard format == .jpeg || format == .webp, !rules.toleratesDamage, let header = header.withFittingProfile()
        else { return nil }
        guard format == .jpeg, shrink == .divisor(8), let short = ProgressiveJPEG(shorteningForEighth: bytes) else {
            return VipsPicture(decodingAtOnce: bytes, as: format, header, shrink)
        }
        var picture: VipsPicture?
        short.bytes.withUnsafeBytes { picture = VipsPicture(decodingAtOnce: $0, as: .jpeg, header, shrink) }
        return picture
    }

    /// The picture; of HEIF, with all pixels decoded; of an animated JPEG XL, the first frame; of a PNG that was cut off, with those
    /// that are missing transparent.
    ///
    /// DESIGN: decoders of HEVC hand out what they could not decode as memory was, and neither they nor libheif up to 1.15
    /// tell. Memory holds zeros here. So a picture that looks, somewhere, as zeros would, is decoded once more into memory
    /// that holds something else: what differs was not decoded.
    func whole(_ picture: borrowing VipsPicture, _ page: Int) throws(ImagingError) -> VipsPicture {
        if format == .jxl, isAnimatedJXL { return try .result(of: "first frame", picture.firstFrame(ofJXL: bytes)) }
        let isCutOff = format == .png && rules.toleratesDamage && !picture.hasAlpha
        guard format == .heif || isCutOff else { return picture.sharingReference() }
        guard let decoded = picture.materialized() else { throw .corrupt(format) }
        guard isCutOff || decoded.looksEmpty else { return decoded }
        // As large as a sample of ten bits may be.
        cameo_fill_memory(0x3FF)
        defer { cameo_fill_memory(0) }
        guard let again = try open(page: page).materialized() else { throw .corrupt(format) }
        let rows = cameo_png_rows(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        if isCutOff, let shown = decoded.withoutMissingPixels(comparedWith: again, rows: rows < 0 ? nil : Int(rows)) {
            return shown
        }
        guard again.hasPixels(of: decoded) else {
            throw .corrupt(format, detail: "not all of it can be decoded")
        }
        return decoded
    }

    /// Whether a JPEG XL file is an animation.
    var isAnimatedJXL: Bool {
        cameo_jxl_is_animation(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) == 1
    }

    /// What a TIFF file says of a page.
    func tiffPage(_ page: Int) -> TIFFPage? { TIFFChoice(page: page, in: bytes)?.directory }

    /// The page by its facts; of a drawing also as it was measured.
    func shape(_ header: borrowing VipsPicture) -> SourceShape {
        let size = facts(header).size
        return SourceShape(size: size, canvas: header.measure > 1 ? header.size : size, format: format)
    }

    private func opened(_ options: LoadOptions) -> VipsPicture? {
        if format == .jpeg, options.shrink == .divisor(8), let short = ProgressiveJPEG(shorteningForEighth: bytes) {
            return VipsPicture(openingCopyOf: short.bytes, as: format, options)
        }
        if format == .gif, let canvas = GIFCanvas(in: bytes) {
            return VipsPicture(openingCopyOf: canvas.bytes, as: format, options)
        }
        if let plain = item?.withPlainPlanes(bytes) {
            return VipsPicture(openingCopyOf: plain, as: format, options)
        }
        if let text {
            if let picture = VipsPicture(openingCopyOf: text, as: format, options) { return picture }
        } else if let picture = VipsPicture(opening: bytes, as: format, options) {
            return picture
        }
        // libvips refuses drawings of less than half a pixel.
        guard format == .svg, let large = Self.enlarged(text ?? Array(bytes), by: Self.measure) else { return nil }
        var options = options
        options.shrink = .scale(options.shrink.scale / Double(Self.measure))
        return VipsPicture(openingCopyOf: large, as: format, options)
    }

    /// The text of a drawing that has only a viewBox, with a size of so many times as many pixels; nil for others.
    private static func enlarged(_ text: [UInt8], by factor: Int) -> [UInt8]? {
        guard let start = text.firstRange(of: "<svg".utf8), let end = text[start.upperBound...].firstIndex(of: 0x3E)
        else { return nil }
        let tag = String(decoding: text[start.upperBound..<end], as: UTF8.self)
        let words = tag.split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" || $0 == "," }
        guard let box = words.firstIndex(of: "viewBox"), !words.contains("width"), !words.contains("height") else {
            return nil
        }
        let numbers = words[(box + 1)...].prefix(4).compactMap { Double($0) }
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
        let (width, height) = (numbers[2] * Double(factor), numbers[3] * Double(factor))
        return Array(text[..<start.upperBound]) + Array(" width='\(width)' height='\(height)'".utf8)
            + text[start.upperBound...]
    }

    /// The header of one page, checked against the limits. Of a drawing it is measured, see ``measure``.
    func header(page: Int = 0) throws(ImagingError) -> VipsPicture {
        if let canvas { try check(canvas) }
        let header = try measured(page)
        try check(PictureFacts(header, format: format).size)
        if let video { try check(video.size) }
        guard header.bands <= RenderLimits.bands else {
            let predicate = "has \(header.bands) bands, more than the limit of \(RenderLimits.bands)"
            throw ImagingError(.unsupportedFormat, predicate)
        }
        return header
    }

    /// In how many parts of a pixel drawings are measured, whose sizes need not be whole numbers: the scale at which their
    /// headers are opened.
    private static let measure = 1_000

    private func measured(_ page: Int) throws(ImagingError) -> VipsPicture {
        guard format == .svg || format == .pdf else { return try open(page: page) }
        // Of a drawing too large for the measure, a part of a pixel is nothing.
        guard let fine = try? open(page: page, shrink: .scale(Double(Self.measure))),
            min(fine.width, fine.height) > 1
        else { return try open(page: page) }
        fine.measure = Self.measure
        return fine
    }

    /// The facts of the source from the header of a page, but what renditions leave out.
    func facts(_ header: borrowing VipsPicture) -> PictureFacts {
        PictureFacts(header, format: format, video: video)
    }

    /// The canvas of a WebP picture, known before it is opened: libvips allocates a whole frame (four bytes per pixel) before
    /// it can report the size.
    private var canvas: PixelSize? { format == .webp ? WebPSize.inChunk(at: 12, of: bytes) : nil }

    private func check(_ size: PixelSize) throws(ImagingError) {
        let (edge, pixels) = (rules.limits.edge, rules.limits.pixels)
        guard size.width <= edge, size.height <= edge else {
            throw ImagingError(.tooManyPixels, "is \(size) pixels, more than the limit of \(edge) per edge")
        }
        guard size.pixels <= pixels else {
            throw ImagingError(.tooManyPixels, "is \(size) = \(size.pixels) pixels, more than the limit of \(pixels)")
        }
    }

    /// All frames stacked vertically, checked against the limits for animations.
    func animation(_ facts: PictureFacts) throws(ImagingError) -> VipsPicture {
        // What the frames of a video may take, cameo-frames has kept to.
        if format == .video { return try open(allPages: true) }
        let limits = rules.limits
        guard facts.pages <= limits.frames else {
            // Not how many: libvips stops counting beyond the limit.
            let predicate = "has more frames than the limit of \(limits.frames) for an animated thumbnail"
            throw ImagingError(.tooManyFrames, predicate)
        }
        // libvips leaves out what is missing; of WebP, it refuses all.
        guard format != .gif || rules.toleratesDamage || !GIFCanvas.isCutOff(bytes) else {
            throw .corrupt(format, detail: "it is cut off")
        }
        let (pixels, overflow) = (facts.width * facts.height).multipliedReportingOverflow(by: facts.pages)
        guard !overflow, pixels <= limits.animatedPixels else {
            throw .tooManyAnimatedPixels(facts.size, frames: facts.pages, limit: limits.animatedPixels)
        }
        return try open(allPages: true)
    }
}

extension PictureFacts {
    /// The facts of the whole file from a header, or from what `cameo-frames` says of its picture.
    init(_ header: borrowing VipsPicture, format: PictureFormat, video: VideoFrameHeader? = nil) {
        // Only of a video are all frames open.
        let stored = PixelSize(header.width, format == .video ? header.height / max(1, header.pages) : header.height)
        let upright = header.isTurnedSideways ? stored.turned : stored
        let measure = header.measure
        let size = PixelSize(
            max(1, (upright.width + measure / 2) / measure),
            max(1, (upright.height + measure / 2) / measure)
        )
        // The loader of JPEG XL takes no page number.
        let pages = format == .jxl ? 1 : max(1, header.pages)
        self.init(
            format: format,
            width: video?.size.width ?? size.width,
            height: video?.size.height ?? size.height,
            pages: video?.frames ?? pages,
            hasAlpha: header.hasAlpha,
            taken: Taken(
                exif: header.exifText("ifd2-DateTimeOriginal"),
                offset: header.exifText("ifd2-OffsetTimeOriginal"),
                make: header.exifText("ifd0-Make"),
                model: header.exifText("ifd0-Model")
            )
        )
    }

    var size: PixelSize { PixelSize(width, height) }
}

/// Recognises files that are not supported pictures, so that the error message can name them.
enum ForeignFormat {
    /// The format with its article, such as `a PDF document`; nil if it is not recognised.
    static func guess(from bytes: UnsafeRawBufferPointer) -> String? {
        guard !bytes.isEmpty else { return "empty" }
        let start = Array(bytes.prefix(512))
        for (signature, name) in signatures where start.starts(with: signature) { return name }
        if start.dropFirst(4).starts(with: "ftypmif3".utf8) { return "a HEIF picture in the low-overhead form (mif3)" }
        if start.dropFirst(4).starts(with: "ftypcrx ".utf8) { return "a camera's raw picture (CR3)" }
        if start.dropFirst(4).starts(with: Array("ftyp".utf8)) { return "a video or audio file (ISO media)" }
        if start.starts(with: Array("RIFF".utf8)) { return "a RIFF file (audio or video)" }
        if let text = guessFromText(start) { return text }
        if start.dropFirst(128).starts(with: "DICM".utf8) { return "a DICOM picture" }
        if start.dropFirst(40).starts(with: " EMF".utf8) { return "an EMF drawing" }
        if bytes.suffix(18).elementsEqual("TRUEVISION-XFILE.\0".utf8) { return "a TGA picture" }
        // Version, run lengths, bits a sample; nothing at the 65th byte.
        if start.count > 64, start[0] == 10, start[1] <= 5, start[2] == 1, start[64] == 0,
            [1, 2, 4, 8].contains(start[3])
        {
            return "a PCX picture"
        }
        return start.starts(with: Array("BM".utf8)) ? "a BMP picture" : nil
    }

    private static let signatures: [([UInt8], String)] = [
        (Array("%PDF".utf8), "a PDF document"),
        (Array("8BPS".utf8), "a Photoshop document"),
        ([0, 0, 1, 0], "an ICO icon"),
        ([0, 0, 2, 0], "a CUR cursor"),
        (Array("icns".utf8), "an ICNS icon"),
        (Array("DDS ".utf8), "a DDS texture"),
        (Array("qoif".utf8), "a QOI picture"),
        (Array("gimp xcf ".utf8), "a GIMP document"),
        ([0x49, 0x49, 0xBC, 0x01], "a JPEG XR picture"),
        (Array("FUJIFILMCCD-RAW".utf8), "a camera's raw picture (RAF)"),
        ([0x49, 0x49, 0x55, 0], "a camera's raw picture (RW2)"),
        (Array("IIRO".utf8), "a camera's raw picture (ORF)"),
        (Array("IIRS".utf8), "a camera's raw picture (ORF)"),
        (Array("MMOR".utf8), "a camera's raw picture (ORF)"),
        (Array("AT&TFORM".utf8), "a DjVu document"),
        ([0xD7, 0xCD, 0xC6, 0x9A], "a WMF drawing"),
        ([0xFF, 0x0A], "a JPEG XL picture"),
        ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "a JPEG XL picture"),
        ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], "a JPEG 2000 picture"),
        ([0xFF, 0x4F, 0xFF, 0x51], "a JPEG 2000 picture"),
        ([0x76, 0x2F, 0x31, 0x01], "an OpenEXR picture"),
        ([0x1F, 0x8B], "gzip-compressed data"),
        (Array("PK\u{3}\u{4}".utf8), "a ZIP archive or office document"),
        ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska video"),
        (Array("ID3".utf8), "an MP3 file"),
        (Array("SIMPLE  =".utf8), "a FITS picture"),
        (Array("#?RADIANCE".utf8), "a Radiance picture"),
        ([0x7F, 0x45, 0x4C, 0x46], "a program"),
        (Array("%!PS".utf8), "a PostScript document"),
    ]

    private static func guessFromText(_ start: [UInt8]) -> String? {
        guard start.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
            return nil
        }
        let text = String(decoding: start, as: UTF8.self).lowercased()
        if text.contains("<svg") { return "an SVG drawing" }
        if text.contains("<!doctype html") || text.contains("<html") { return "an HTML page" }
        if text.drop(while: \.isWhitespace).hasPrefix("<?xml") { return "an XML document" }
        if text.drop(while: \.isWhitespace).hasPrefix("{") { return "a JSON document" }
        if start.starts(with: Array("P".utf8)), let digit = start.dropFirst().first, (0x31...0x37).contains(digit) {
            return "a PNM picture"
        }
        return "plain text"
    }
}

/// A source's bytes, memory-mapped and not copied, for the lifetime of this value.
///
/// Decoders read the mapping directly. Truncating the file meanwhile kills the process with SIGBUS, which the worker
/// reports as `source.changed`; a sealed memory file cannot be truncated.
package struct SourceMapping: ~Copyable {
    let bytes: UnsafeRawBufferPointer
    let kind: SourceKind
    /// The EXIF of a JPEG that is hidden from decoders, or of a PNG where they do not look; nil if there is none, or if they
    /// see it.
    let exif: EXIFSegment?

    /// Maps a regular file or memory file that is open for reading; the descriptor may be closed afterwards.
    package init(_ descriptor: Int32, holding kind: SourceKind = .file) throws(ImagingError) {
        self.kind = kind
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable("\(Errno())") }
        guard status.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            exif = nil
            return
        }
        let size = Int(status.st_size)
        guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED else {
            throw .unreadable("\(Errno())")
        }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        exif =
            EXIFSegment(in: bytes).flatMap { Self.hide($0, in: start) ? $0 : nil } ?? PNGColor.lateEXIF(in: bytes)
    }

    /// Holds a copy.
    init(copying data: Data) throws(ImagingError) {
        let access = PROT_READ | PROT_WRITE
        guard !data.isEmpty, let start = mmap(nil, data.count, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { throw .unreadable("\(Errno())") }
        let copy = UnsafeMutableRawBufferPointer(start: start, count: data.count)
        copy.copyBytes(from: data)
        (bytes, kind, exif) = (UnsafeRawBufferPointer(copy), .file, nil)
    }

    /// Overwrites the marker in this process's copy of the page. Returns false if the page cannot be made writable.
    private static func hide(_ segment: EXIFSegment, in start: UnsafeMutableRawPointer) -> Bool {
        let pageSize = sysconf(Int32(_SC_PAGESIZE))
        let page = start + segment.marker / pageSize * pageSize
        guard mprotect(page, pageSize, PROT_READ | PROT_WRITE) == 0 else { return false }
        start.storeBytes(of: EXIFSegment.skipped, toByteOffset: segment.marker, as: UInt8.self)
        mprotect(page, pageSize, PROT_READ)
        return true
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}

/// Tells a truncated file from a damaged one by the format's end mark.
enum Truncation {
    /// The number of bytes searched for the mark, since some programs append bytes of their own.
    private static let searchedBytes = 65_536

    static func isCutOff(_ bytes: UnsafeRawBufferPointer, as format: PictureFormat) -> Bool {
        let tail = bytes.suffix(searchedBytes)
        switch format {
        case .jpeg: return tail.firstRange(of: [0xFF, 0xD9]) == nil
        case .png: return tail.firstRange(of: "IEND".utf8) == nil
        // The trailer, possibly followed by padding.
        case .gif: return tail.last(where: { $0 != 0 }) != 0x3B
        // The length of the RIFF chunk plus its eight-byte header.
        case .webp: return bytes.count < 8 + (bytes.number(at: 4, count: 4, .little) ?? bytes.count)
        // Their parts are located by offsets: a truncated file usually has no pixels at all.
        case .tiff, .heif, .avif, .svg, .jxl, .pdf, .initials, .video: return false
        }
    }
}
