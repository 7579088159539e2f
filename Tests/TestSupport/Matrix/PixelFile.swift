internal import Foundation

/// A picture in libvips' own file format (`.v`): a header of 64 bytes, the pixels as they are, and an XML tail of metadata.
/// Written, it is the shortest way from numbers to any saver; read, it gives pixels and metadata of one tool's run.
/// The layout is `libvips/iofuncs/vips.c`'s; here always little-endian, as the machines that this runs on.
package struct PixelFile: Sendable {
    /// The kinds of numbers used here; raw values are libvips' `VipsBandFormat`.
    package enum Number: Int32, Sendable {
        case uchar = 0
        case ushort = 2
        case float = 6

        package var bytes: Int {
            switch self {
            case .uchar: 1
            case .ushort: 2
            case .float: 4
            }
        }
    }

    /// What the bands mean; raw values are libvips' `VipsInterpretation`.
    package enum Interpretation: Int32, Sendable {
        case multiband = 0
        case grey = 1
        case cmyk = 15
        case srgb = 22
        case rgb16 = 25
        case grey16 = 26
        case scrgb = 28
    }

    /// A header field: its GObject type, its name, its value (of a `VipsBlob`: in base 64).
    package struct Field: Sendable {
        package let type: String
        package let name: String
        package let value: String

        package init(_ type: String, _ name: String, _ value: String) {
            (self.type, self.name, self.value) = (type, name, value)
        }
    }

    package struct Unreadable: Error {
        package let path: String
    }

    private static let signature: [UInt8] = [0xB6, 0xA6, 0xF2, 0x08]
    private static let headerBytes = 64

    package let width: Int
    package let height: Int
    package let bands: Int
    package let number: Number
    package let interpretation: Interpretation
    /// Rows of pixels of bands.
    package let samples: [UInt8]
    package let fields: [Field]

    package init(
        width: Int,
        height: Int,
        bands: Int,
        number: Number,
        interpretation: Interpretation,
        samples: [UInt8],
        fields: [Field] = []
    ) {
        (self.width, self.height, self.bands) = (width, height, bands)
        (self.number, self.interpretation) = (number, interpretation)
        (self.samples, self.fields) = (samples, fields)
    }

    package func write(to path: String) throws {
        let header: [Int32] = [
            Int32(width), Int32(height), Int32(bands), Int32(number.bytes * 8), number.rawValue, 0,
            interpretation.rawValue, Int32(bitPattern: Float(1).bitPattern), Int32(bitPattern: Float(1).bitPattern),
            0, 0, 0, 0, 0, 0,
        ]
        var bytes = Data(Self.signature)
        for word in header { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        bytes.append(contentsOf: samples)
        let items = fields.map { "<field type=\"\($0.type)\" name=\"\($0.name)\">\($0.value)</field>" }
        let tail =
            "<?xml version=\"1.0\"?><root xmlns=\"http://www.vips.ecs.soton.ac.uk/vips/8.14.1\"><header></header><meta>"
            + items.joined() + "</meta></root>"
        bytes.append(contentsOf: Array(tail.utf8))
        try bytes.write(to: URL(filePath: path))
    }

    package init(contentsOf path: String) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        func word(_ offset: Int) -> Int32 {
            (0..<4).reduce(0) { $0 | Int32(bytes[offset + $1]) << (8 * Int32($1)) }
        }
        guard bytes.count >= Self.headerBytes, bytes.starts(with: Self.signature),
            let number = Number(rawValue: word(20))
        else { throw Unreadable(path: path) }
        let (width, height, bands) = (Int(word(4)), Int(word(8)), Int(word(12)))
        let end = Self.headerBytes + width * height * bands * number.bytes
        guard bytes.count >= end else { throw Unreadable(path: path) }
        self.init(
            width: width,
            height: height,
            bands: bands,
            number: number,
            interpretation: Interpretation(rawValue: word(28)) ?? .multiband,
            samples: Array(bytes[Self.headerBytes..<end])
        )
    }
}
