import Foundation
import TestSupport

/// sRGB colours written by the code points of ITU-T H.273, computed forwards and differently from the product: with
/// each standard's encoding function, and with the matrices from BT.709 of ITU-R BT.2087 and SMPTE EG 432-1.
enum HDRColors {
    enum Space: CaseIterable, Sendable {
        case bt2020PQ, bt2020HLG, displayP3PQ, displayP3HLG, bt709PQ, displayP3, bt2020

        /// The payload of a cICP chunk.
        var codePoints: [UInt8] {
            switch self {
            case .bt2020PQ: [9, 16, 0, 1]
            case .bt2020HLG: [9, 18, 0, 1]
            case .displayP3PQ: [12, 16, 0, 1]
            case .displayP3HLG: [12, 18, 0, 1]
            case .bt709PQ: [1, 16, 0, 1]
            case .displayP3: [12, 13, 0, 1]
            case .bt2020: [9, 1, 0, 1]
            }
        }

        private var fromBT709: [[Double]] {
            switch self {
            case .bt2020PQ, .bt2020HLG, .bt2020:
                [[0.627404, 0.329283, 0.043313], [0.069097, 0.919540, 0.011362], [0.016391, 0.088013, 0.895595]]
            case .displayP3PQ, .displayP3HLG, .displayP3:
                [[0.822462, 0.177538, 0], [0.033194, 0.966806, 0], [0.017083, 0.072397, 0.910520]]
            case .bt709PQ: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            }
        }

        /// Encodes linear light in BT.709's primaries, where 1 is white at 203 cd/m².
        func encoded(_ light: [Double]) -> [Double] {
            let own = fromBT709.map { row in zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } }
            switch self {
            case .bt2020PQ, .displayP3PQ, .bt709PQ: return own.map { HDRColors.pq($0 * 203) }
            case .bt2020HLG: return HDRColors.hlg(own, shares: [0.2627, 0.6780, 0.0593])
            case .displayP3HLG: return HDRColors.hlg(own, shares: [0.2290, 0.6917, 0.0793])
            case .displayP3, .bt2020: return own.map(HDRColors.srgb)
            }
        }
    }

    /// The inverse EOTF of SMPTE ST 2084, from cd/m².
    static func pq(_ luminance: Double) -> Double {
        let power = pow(max(0, luminance) / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// The inverse OOTF and the OETF of BT.2100 for a display of 1000 cd/m², from light where 203 cd/m² is 1.
    static func hlg(_ light: [Double], shares: [Double]) -> [Double] {
        let display = light.map { max(0, $0) * 0.203 }
        let luminance = zip(display, shares).reduce(0) { $0 + $1.0 * $1.1 }
        return display.map { channel in
            let scene = luminance > 0 ? channel * pow(luminance, (1 - 1.2) / 1.2) : 0
            return scene <= 1.0 / 12 ? (3 * scene).squareRoot() : 0.17883277 * log(12 * scene - 0.28466892) + 0.55991073
        }
    }

    static func srgb(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The light of an sRGB byte.
    static func light(_ byte: Int) -> Double {
        let encoded = Double(byte) / 255
        return encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)
    }

    /// A row of squares from values 0…1: grey or RGB, with or without alpha.
    static func squares(_ colors: [[Double]], edge: Int = 4, bits: Int = 16) -> PixelFile {
        let bands = colors[0].count
        let row = colors.flatMap { color in
            (0..<edge).flatMap { _ in
                color.flatMap { number -> [UInt8] in
                    let whole = Int((number * (bits == 16 ? 65_535 : 255)).rounded())
                    return bits == 16 ? [UInt8(whole & 255), UInt8(whole >> 8)] : [UInt8(whole)]
                }
            }
        }
        let isGrey = bands < 3
        return PixelFile(
            width: colors.count * edge,
            height: edge,
            bands: bands,
            number: bits == 16 ? .ushort : .uchar,
            interpretation: bits == 16 ? (isGrey ? .grey16 : .rgb16) : (isGrey ? .grey : .srgb),
            samples: (0..<edge).flatMap { _ in row }
        )
    }
}
