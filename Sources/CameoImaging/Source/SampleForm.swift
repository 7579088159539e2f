internal import CVips
internal import CameoModel

/// How a JPEG or TIFF file stores its samples, as far as libvips does not tell, or gets it wrong.
enum SampleForm {
    /// What no decoder here knows of a whole file, such as `12 bits a sample`; nil if there is nothing of the kind.
    static func unsupported(in file: UnsafeRawBufferPointer, as format: PictureFormat) -> String? {
        switch format {
        case .jpeg: unsupportedFrame(of: file)
        case .tiff: TIFFPages(in: file).first { !$0.isReduced }?.unsupported
        default: nil
        }
    }

    /// By the frame header (ITU-T T.81, B.2.2).
    private static func unsupportedFrame(of file: UnsafeRawBufferPointer) -> String? {
        var offset = 2
        while offset + 5 <= file.count, file[offset] == 0xFF {
            switch file[offset + 1] {
            case 0xFF: offset += 1
            case 0xC3, 0xCB: return "lossless JPEG"
            case 0xC5...0xC7, 0xCD...0xCF: return "hierarchical JPEG"
            case 0xC0...0xC2, 0xC9, 0xCA: return file[offset + 4] == 8 ? nil : "\(file[offset + 4]) bits a sample"
            case 0xDA: return nil
            default: offset += 2 + Int(file[offset + 2]) << 8 + Int(file[offset + 3])
            }
        }
        return nil
    }
}

/// The directories of a classic TIFF file (TIFF 6.0), of which each is a picture; reading out of bounds ends them.
struct TIFFPages: Sequence, IteratorProtocol {
    private let file: UnsafeRawBufferPointer
    private let order: ByteOrder
    private var offset: Int?
    private var left = 1_000

    init(in file: UnsafeRawBufferPointer) {
        self.file = file
        order = file.first == 0x49 ? .little : .big
        if file.count > 8, number(at: 2, count: 2) == 42 { offset = number(at: 4, count: 4) }
    }

    private func number(at offset: Int, count: Int) -> Int? { file.number(at: offset, count: count, order) }

    mutating func next() -> TIFFPage? {
        guard left > 0, let start = offset, start > 0, let count = number(at: start, count: 2) else { return nil }
        left -= 1
        var page = TIFFPage()
        for entry in stride(from: start + 2, to: start + 2 + count * 12, by: 12) {
            guard let tag = number(at: entry, count: 2), let type = number(at: entry + 2, count: 2),
                let length = number(at: entry + 4, count: 4)
            else { return nil }
            let size = [3: 2, 4: 4, 5: 8][type] ?? 1
            let place = length * size <= 4 ? entry + 8 : number(at: entry + 8, count: 4) ?? -1
            // Of a fraction, numerator and denominator.
            let part = Swift.min(size, 4)
            page.fields[tag] = (0..<Swift.min(length * size / part, 12)).compactMap {
                number(at: place + $0 * part, count: part)
            }
        }
        offset = number(at: start + 2 + count * 12, count: 4)
        return page
    }
}

/// The first numbers of the fields of a TIFF directory, by their tags.
struct TIFFPage {
    fileprivate(set) var fields: [Int: [Int]] = [:]

    private func first(_ tag: Int) -> Int? { fields[tag]?.first }

    /// Whether it is a smaller version of another picture in the file (NewSubfileType).
    var isReduced: Bool { first(254).map { $0 & 1 == 1 } ?? false }

    fileprivate var unsupported: String? {
        let (bits, kind, compression) = (first(258) ?? 1, first(339) ?? 1, first(259) ?? 1)
        if kind == 3, bits != 32 { return "\(bits)-bit floating point" }
        if ![1, 2, 4, 8, 16, 32].contains(bits) { return "\(bits) bits a sample" }
        if isYCbCr, fields[530] != [1, 1] { return Self.subsampled }
        if kind > 4 { return "complex numbers" }
        if ![1, 2, 3, 4, 5, 6, 7, 8, 32_773, 32_946, 34_925, 50_000, 50_001].contains(compression) {
            return "compression \(compression)"
        }
        return nil
    }

    private static let subsampled = "YCbCr of fewer colours than pixels, or not of 8 bits, without JPEG compression"

    /// Whether libtiff hands on luminance and colour differences, as it does unless it decodes JPEG.
    private var isYCbCr: Bool { first(262) == 6 && first(259) != 6 && first(259) != 7 }

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
        case VIPS_FORMAT_FLOAT where picture.colorBands < 3, VIPS_FORMAT_DOUBLE: largest = 1
        case VIPS_FORMAT_CHAR: largest = 127
        case VIPS_FORMAT_SHORT where !isLab: largest = 32_767
        case VIPS_FORMAT_INT: largest = 2_147_483_647
        case VIPS_FORMAT_UINT: largest = 4_294_967_295
        default: return picture.sharingReference()
        }
        return picture.scaled(by: [255 / largest], adding: [0])?.roundedToBytes()?
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
