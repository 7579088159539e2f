internal import Foundation

/// An ICC profile whose header (ICC.1:2010, 7.2) has been checked.
struct ColorProfile {
    enum Space: String {
        case rgb = "RGB "
        case grey = "GRAY"
    }

    let bytes: [UInt8]
    let space: Space

    /// The largest size accepted, in bytes, far above any camera's or screen's profile.
    private static let longest = 4 << 20

    /// - Returns: nil unless it is a complete profile for RGB or grey pixels of at most 4 MiB.
    init?(_ data: Data) {
        let reader = ByteReader(data)
        guard (128...Self.longest).contains(reader.count), reader.number(at: 0, count: 4) == reader.count,
            reader.name(at: 36) == "acsp", let space = reader.name(at: 16).flatMap(Space.init)
        else { return nil }
        bytes = reader.bytes
        self.space = space
    }
}
