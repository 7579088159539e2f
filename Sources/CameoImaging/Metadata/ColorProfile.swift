internal import Foundation

/// An ICC profile (ICC.1:2010, 7.2: the header), checked as far as a reader's trust goes.
struct ColorProfile {
    enum Space: String {
        case rgb = "RGB "
        case grey = "GRAY"
    }

    let bytes: [UInt8]
    let space: Space

    /// No profile of a camera or a screen is anywhere near this.
    private static let longest = 4 << 20

    /// - Returns: nil unless it is one for RGB or grey pixels, whole, and of at most 4 MiB.
    init?(_ data: Data) {
        let reader = ByteReader(data)
        guard (128...Self.longest).contains(reader.count), reader.number(at: 0, count: 4) == reader.count,
            reader.name(at: 36) == "acsp", let space = reader.name(at: 16).flatMap(Space.init)
        else { return nil }
        bytes = reader.bytes
        self.space = space
    }
}
