internal import CVips
internal import CameoModel

/// How a JPEG or TIFF file stores its samples, as far as libvips does not tell, or gets it wrong.
enum SampleForm {
    /// What no decoder here knows of a whole file, such as `12 bits a sample`; nil if there is nothing of the kind.
    static func unsupported(in file: UnsafeRawBufferPointer, as format: PictureFormat) -> String? {
        switch format {
        case .jpeg: unsupportedFrame(of: file)
        case .tiff:
            (TIFFPages(in: file).first { !$0.isReduced } ?? TIFFPages(in: file).first { _ in true })?.unsupported
        case .heif, .avif: HEIFItem(in: file).unsupported
        case .png where file.name(at: 12) == "CgBI": "as Apple's programs store them (CgBI)"
        default: nil
        }
    }

    /// By the frame header (ITU-T T.81, B.2.2).
    private static func unsupportedFrame(of file: UnsafeRawBufferPointer) -> String? {
        for (marker, _, payload) in JPEGSegments(file) {
            switch marker {
            case 0xC3, 0xCB: return "lossless JPEG"
            case 0xC5...0xC7, 0xCD...0xCF: return "hierarchical JPEG"
            case 0xF7: return "JPEG-LS"
            case 0xC0...0xC2, 0xC9, 0xCA:
                guard file[payload].first == 8 else { return "\(file[payload].first ?? 0) bits a sample" }
                let rows = file.number(at: payload.lowerBound + 1, count: 2)
                return rows == 0 ? "in as many rows as a DNL marker says" : nil
            default: break
            }
        }
        return nil
    }
}

/// The directories of a TIFF file, of which each is a picture; reading out of bounds ends them.
struct TIFFPages: Sequence, IteratorProtocol {
    private let file: TIFFFile<UnsafeRawBufferPointer>?
    private var offset: Int?
    private var left = 1_000

    init(in bytes: UnsafeRawBufferPointer) {
        file = TIFFFile(bytes)
        offset = file?.start
    }

    mutating func next() -> TIFFPage? {
        guard left > 0, let start = offset, let (page, next) = directory(at: start) else { return nil }
        left -= 1
        offset = next
        return page
    }

    /// The pictures that belong to a page (`SubIFDs` of TIFF/EP), which no page follows.
    func parts(of page: TIFFPage) -> [TIFFPage] {
        (page.fields[330] ?? []).map { directory(at: $0)?.page ?? TIFFPage() }
    }

    private func directory(at start: Int) -> (page: TIFFPage, next: Int?)? {
        guard let file, let (fields, end) = file.directory(at: start), end <= file.bytes.count else { return nil }
        var page = TIFFPage()
        for (tag, type, _, value) in fields {
            // Of a fraction, numerator and denominator.
            let part = type == 5 || type == 10 ? 4 : TIFFEntry.sizes[type] ?? 1
            // Of ExtraSamples all, one a sample; of texts, what may be a notice.
            let most = [338: 65_535, EXIFTag.artist: 2_049, EXIFTag.copyright: 2_049][tag] ?? 12
            page.fields[tag] = (0..<Swift.min(value.count / part, most)).compactMap {
                value.number(at: $0 * part, count: part, file.order)
            }
        }
        return (page, file.offset(at: end))
    }
}

/// Which picture of a TIFF file is shown where a page is asked for.
struct TIFFChoice {
    /// The number of the page, and that of one of its parts; -1: the page itself.
    let page: Int, part: Int
    let directory: TIFFPage
    /// The EXIF orientation, which may be the first page's alone.
    let orientation: Int?

    /// The page. First are none that are smaller versions of others. If there is no other, or if its samples are those of a
    /// camera's sensor, it is the largest picture of the file that can be shown; nil if there is none.
    init?(page: Int, in file: UnsafeRawBufferPointer) {
        let directories = TIFFPages(in: file)
        if page > 0 {
            guard let found = directories.dropFirst(page).first(where: { _ in true }) else { return nil }
            self.init(page, -1, found, found.orientation)
            return
        }
        let pages = Array(directories.prefix(16))
        if let first = pages.firstIndex(where: { !$0.isReduced }), !pages[first].isOfSensor {
            self.init(first, -1, pages[first], pages[first].orientation)
            return
        }
        var best: (page: Int, part: Int, directory: TIFFPage)?
        for (page, directory) in pages.enumerated() {
            let parts = directories.parts(of: directory).enumerated().map { (page, $0.offset, $0.element) }
            for found in [(page, -1, directory)] + parts where found.2.unsupported == nil {
                if found.2.pixels > best?.directory.pixels ?? 0 { best = found }
            }
        }
        guard let best else { return nil }
        self.init(best.page, best.part, best.directory, best.directory.orientation ?? pages[0].orientation)
    }

    private init(_ page: Int, _ part: Int, _ directory: TIFFPage, _ orientation: Int?) {
        (self.page, self.part, self.directory, self.orientation) = (page, part, directory, orientation)
    }
}

/// The first numbers of the fields of a TIFF directory, by their tags.
struct TIFFPage {
    fileprivate(set) var fields: [Int: [Int]] = [:]

    private func first(_ tag: Int) -> Int? { fields[tag]?.first }
    /// The bytes of a text, up to its end.
    func text(_ tag: Int) -> [UInt8]? { fields[tag]?.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) } }

    /// Whether it is a smaller version of another picture in the file (NewSubfileType).
    var isReduced: Bool { first(254).map { $0 & 1 == 1 } ?? false }
    /// Whether its samples are those of a camera's sensor (TIFF/EP and DNG: CFA and LinearRaw), which are no colours.
    var isOfSensor: Bool { first(262) == 32_803 || first(262) == 34_892 }
    fileprivate var orientation: Int? { first(274) }
    fileprivate var pixels: Int { (first(256) ?? 0).multipliedReportingOverflow(by: first(257) ?? 0).partialValue }
    private var samples: Int { first(277) ?? 1 }

    fileprivate var unsupported: String? {
        if isOfSensor { return "as a camera's sensor measured them (RAW)" }
        let (bits, kind, compression) = (first(258) ?? 1, first(339) ?? 1, first(259) ?? 1)
        if kind == 3, bits != 32 { return "\(bits)-bit floating point" }
        if ![1, 2, 4, 8, 16, 32].contains(bits) || (bits < 8 && samples > 1) { return "\(bits) bits a sample" }
        if isYCbCr, fields[530] != [1, 1] { return Self.subsampled }
        if kind > 4 { return "complex numbers" }
        if first(284) == 2, fields[322] != nil, samples > 1 { return "in tiles, each sample in others" }
        if first(262) == 8, samples == 1 { return "CIELAB of lightness alone" }
        if ![1, 2, 3, 4, 5, 6, 7, 8, 32_773, 32_946, 34_925, 50_000, 50_001].contains(compression) {
            return "compression \(compression)"
        }
        return nil
    }

    private static let subsampled = "YCbCr of fewer colours than pixels, or not of 8 bits, without JPEG compression"

    /// Whether libtiff hands on luminance and colour differences, as it does unless it decodes JPEG.
    private var isYCbCr: Bool { first(262) == 6 && first(259) != 6 && first(259) != 7 }

    /// The picture without samples that are neither colour nor opacity (ExtraSamples), of which libvips takes the first
    /// for opacity; and CIELAB as libvips knows it. Nil if libvips failed.
    func withoutOtherSamples(_ picture: borrowing VipsPicture) -> VipsPicture? {
        var picture = picture.sharingReference()
        let (extra, colors) = (fields[338] ?? [], samples - (fields[338]?.count ?? 0))
        if !extra.isEmpty, picture.bands == samples, colors > 0 {
            guard let plain = picture.bands(from: 0, count: colors) else { return nil }
            if let place = extra.firstIndex(where: { $0 == 1 || $0 == 2 }) {
                guard let opacity = picture.bands(from: colors + place, count: 1) else { return nil }
                guard let both = plain.joined(with: opacity) else { return nil }
                picture = both
            } else {
                picture = plain
            }
        }
        // Of eight bits, packed into four bytes.
        if picture.isPackedLab { return picture.converted(to: VIPS_INTERPRETATION_LABS) }
        if first(262) == 9, [VIPS_FORMAT_UCHAR, VIPS_FORMAT_USHORT].contains(picture.format), picture.bands >= 3 {
            let step = picture.format == VIPS_FORMAT_UCHAR ? 1.0 : 256
            let opacity = [picture.largestNumber == 255 ? 1 : 1 / 257.0].prefix(picture.bands - 3)
            return picture.scaled(
                by: [100 / (255 * step), 1 / step, 1 / step] + opacity,
                adding: [0, -128, -128] + opacity.map { _ in 0 }
            )?.reinterpreted(as: VIPS_INTERPRETATION_LAB)
        }
        guard picture.interpretation == VIPS_INTERPRETATION_LABS, picture.bands == 4 else { return picture }
        // Opacity of 16 bits, taken for signed, is wanted as of eight.
        let opacity = picture.bands(from: 3, count: 1)?.unsigned()?.scaled(by: [1 / 257.0], adding: [0])?.rounded()
        guard let opacity = opacity?.cast(to: VIPS_FORMAT_SHORT) else { return nil }
        return picture.bands(from: 0, count: 3)?.joined(with: opacity)
    }

    /// The picture with values that mean what libvips takes them for. Nil if libvips failed.
    ///
    /// - Throws: for luminance and colour differences that have not one value each a pixel.
    func understood(_ picture: borrowing VipsPicture) throws(ImagingError) -> VipsPicture? {
        if isYCbCr {
            guard fields[530] == [1, 1], picture.bands == 3, picture.format == VIPS_FORMAT_UCHAR else {
                throw .unsupportedPixels(Self.subsampled)
            }
            return rgb(picture)
        }
        let isLab = [VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LAB].contains(picture.interpretation)
        let largest: Double
        switch picture.format {
        // libvips does not turn those in which 0 is white.
        case VIPS_FORMAT_FLOAT where picture.colorBands < 3, VIPS_FORMAT_DOUBLE: largest = first(262) == 0 ? -1 : 1
        case VIPS_FORMAT_CHAR: largest = 127
        case VIPS_FORMAT_SHORT where !isLab: largest = 32_767
        case VIPS_FORMAT_INT: largest = 2_147_483_647
        case VIPS_FORMAT_UINT: largest = 4_294_967_295
        default: return picture.sharingReference()
        }
        return picture.scaled(by: [255 / largest], adding: [largest < 0 ? 255 : 0])?.roundedToBytes()?
            .reinterpreted(as: picture.colorBands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB)
    }

    /// By YCbCrCoefficients and ReferenceBlackWhite (TIFF 6.0, sections 20 and 21).
    private func rgb(_ picture: borrowing VipsPicture) -> VipsPicture? {
        func fractions(_ tag: Int, or usual: [Double]) -> [Double] {
            let numbers = fields[tag] ?? []
            let pairs = stride(from: 0, to: numbers.count - 1, by: 2).map {
                Double(numbers[$0]) / Double(numbers[$0 + 1])
            }
            return pairs.count == usual.count && pairs.allSatisfy(\.isFinite) ? pairs : usual
        }
        let share = fractions(529, or: [0.299, 0.587, 0.114])
        let range = fractions(532, or: [0, 255, 128, 255, 128, 255])
        guard range[1] > range[0], range[3] > range[2], range[5] > range[4], share[1] > 0 else { return nil }
        let factors = [255 / (range[1] - range[0]), 127 / (range[3] - range[2]), 127 / (range[5] - range[4])]
        let (toBlue, toRed) = (2 - 2 * share[2], 2 - 2 * share[0])
        return picture.scaled(by: factors, adding: (0..<3).map { -range[$0 * 2] * factors[$0] })?
            .mixed(by: [1, 0, toRed, 1, -toBlue * share[2] / share[1], -toRed * share[0] / share[1], 1, toBlue, 0])?
            .roundedToBytes()?.reinterpreted(as: VIPS_INTERPRETATION_sRGB)
    }
}
