/// A colour space by the code points of ITU-T H.273, as far as supported: full-range RGB or grey.
package struct CodedColor: Hashable, Sendable {
    /// Primaries with the white point D65.
    package enum Primaries: Int, Sendable {
        case bt709 = 1
        case bt2020 = 9
        case displayP3 = 12
    }

    package enum Transfer: Sendable {
        /// sRGB, also used for the curve of BT.709 (shared by BT.601 and BT.2020): that curve describes cameras,
        /// displays apply another (BT.1886), and sRGB lies between the two.
        case sRGB
        case pq
        case hlg

        init?(codePoint: Int) {
            switch codePoint {
            case 1, 6, 13, 14, 15: self = .sRGB
            case 16: self = .pq
            case 18: self = .hlg
            default: return nil
            }
        }
    }

    package let primaries: Primaries
    package let transfer: Transfer

    package init(_ primaries: Primaries, _ transfer: Transfer) {
        (self.primaries, self.transfer) = (primaries, transfer)
    }
}

extension CodedColor.Primaries {
    /// The matrix from light in these primaries to light in BT.709's, three rows of three. BT.2020's is from ITU-R
    /// BT.2087; Display P3's follows from the chromaticities in H.273, table 2.
    package var toBT709: [Double] {
        switch self {
        case .bt709: [1, 0, 0, 0, 1, 0, 0, 0, 1]
        case .bt2020:
            [1.660_491, -0.587_641, -0.072_850, -0.124_550, 1.132_900, -0.008_349, -0.018_151, -0.100_579, 1.118_730]
        case .displayP3:
            [1.224_940, -0.224_940, 0, -0.042_057, 1.042_057, 0, -0.019_638, -0.078_636, 1.098_274]
        }
    }

    /// How much more light a channel may have in BT.709's primaries than the largest one has in these.
    package var largestGain: Double {
        let rows = stride(from: 0, to: 9, by: 3).map { toBT709[$0..<$0 + 3] }
        return rows.map { $0.reduce(0) { $0 + max(0, $1) } }.max() ?? 1
    }

    /// The weights of red, green and blue in luminance: the second row of the primaries' matrix to CIE XYZ.
    package var luminanceShares: [Double] {
        switch self {
        case .bt709: [0.2126, 0.7152, 0.0722]
        case .bt2020: [0.2627, 0.6780, 0.0593]
        case .displayP3: [0.2290, 0.6917, 0.0793]
        }
    }
}
