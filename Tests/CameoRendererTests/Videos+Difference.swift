import CameoModel
import Foundation
import TestSupport

extension Videos {
    /// The mean CIE 1976 ΔE of two pictures of one size.
    static func difference(_ one: PixelGrid, _ other: PixelGrid) -> Double {
        func lab(_ pixel: [Int]) -> Lab { Lab(Float(pixel[0]), Float(pixel[1]), Float(pixel[2])) }
        let places = one.places
        return places.reduce(0) { $0 + Lab.difference(lab(one[$1.x, $1.y]), lab(other[$1.x, $1.y])) }
            / Double(places.count)
    }
}

extension PixelGrid {
    init(ofPNG path: String, _ width: Int, _ height: Int) async throws {
        let rendition = EncodedRendition(
            bytes: try Data(contentsOf: URL(filePath: path)),
            width: width,
            height: height,
            format: .png,
            hasAlpha: false,
            frames: 1,
            placeholder: Placeholder(thumbHash: "AAAA", blurHash: "000000", dominantColor: .transparent)
        )
        try await self.init(of: rendition)
    }
}
