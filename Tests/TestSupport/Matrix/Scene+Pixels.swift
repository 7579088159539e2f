internal import Foundation

extension Scene {
    private var bands: Int { (space.isGrey ? 1 : 3) + (transparency == .none ? 0 : 1) }

    private var number: PixelFile.Number {
        switch depth {
        case .eight: .uchar
        case .sixteen: .ushort
        case .float: .float
        }
    }

    private var interpretation: PixelFile.Interpretation {
        switch (depth, space.isGrey) {
        case (.eight, true): .grey
        case (.eight, false): .srgb
        case (.sixteen, true): .grey16
        case (.sixteen, false): .rgb16
        // Linear light, 0…1.
        case (.float, _): .scrgb
        }
    }

    /// Its frames below one another, each stored as an EXIF orientation (1…8) wants it.
    package func pixels(orientation: Int, fields: [PixelFile.Field] = []) -> PixelFile {
        let isSideways = orientation >= 5
        let (width, height) = isSideways ? (Self.height, Self.width) : (Self.width, Self.height)
        let encode = space.encoder()
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * frames * bands * number.bytes)
        for frame in 0..<frames {
            for row in 0..<height {
                for column in 0..<width {
                    let (x, y) = Self.upright(column, row, orientation)
                    let (color, alpha) = pixel(x, y, frame: frame)
                    for number in depth == .float ? color.map(SceneSpace.srgb.decoded) : encode(color) {
                        append(number, to: &samples)
                    }
                    if transparency != .none { append(alpha, to: &samples) }
                }
            }
        }
        return PixelFile(
            width: width,
            height: height * frames,
            bands: bands,
            number: number,
            interpretation: interpretation,
            samples: samples,
            fields: fields
        )
    }

    /// Appends a number of 0…1.
    private func append(_ number: Double, to samples: inout [UInt8]) {
        switch depth {
        case .eight: samples.append(UInt8((number * 255).rounded()))
        case .sixteen:
            let value = UInt16((number * 65_535).rounded())
            samples.append(UInt8(value & 255))
            samples.append(UInt8(value >> 8))
        case .float:
            let bits = Float(number).bitPattern
            for shift in [0, 8, 16, 24] as [UInt32] { samples.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        }
    }

    /// The pixel of the upright scene that is stored in this column and row (TIFF 6.0, page 36).
    private static func upright(_ column: Int, _ row: Int, _ orientation: Int) -> (x: Int, y: Int) {
        switch orientation {
        case 2: (width - 1 - column, row)
        case 3: (width - 1 - column, height - 1 - row)
        case 4: (column, height - 1 - row)
        case 5: (row, column)
        case 6: (width - 1 - row, column)
        case 7: (width - 1 - row, height - 1 - column)
        case 8: (row, height - 1 - column)
        default: (column, row)
        }
    }
}
