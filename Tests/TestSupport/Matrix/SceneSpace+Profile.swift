package import Foundation

/// Minimal ICC profiles, version 2.1: primaries and curves (ICC.1:2001-04, 6.3.1.2 and 6.3.1.3), nothing else.
extension SceneSpace {
    /// What every profile is named, so that one left in a thumbnail is found.
    package static let profileName = "SECRET-PROFILE"

    /// Nil for CMYK, whose profile libvips has.
    package var profile: Data? {
        if self == .cmyk { return nil }
        var tags: [(String, [UInt8])] = [
            ("desc", Self.description), ("cprt", Self.text("none")), ("wtpt", Self.xyz([0.9642, 1, 0.8249])),
        ]
        if isGrey {
            tags.append(("kTRC", curve))
        } else {
            for (column, name) in ["r", "g", "b"].enumerated() {
                tags.append(("\(name)XYZ", Self.xyz(primaries.map { $0[column] })))
                tags.append(("\(name)TRC", curve))
            }
        }
        return Data(Self.assembled(tags, space: isGrey ? "GRAY" : "RGB "))
    }

    private static func assembled(_ tags: [(String, [UInt8])], space: String) -> [UInt8] {
        var table = big32(UInt32(tags.count))
        var contents: [UInt8] = []
        let start = 128 + 4 + 12 * tags.count
        for (name, content) in tags {
            table += Array(name.utf8) + big32(UInt32(start + contents.count)) + big32(UInt32(content.count))
            contents += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        var header = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], at offset: Int) {
            header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        put(big32(UInt32(start + contents.count)), at: 0)
        put([2, 0x10, 0, 0] + Array("mntr\(space)XYZ ".utf8), at: 8)
        put([0x07, 0xD0, 0, 1, 0, 1], at: 24)
        put(Array("acsp".utf8), at: 36)
        // The white of the connection space, D50.
        put(fixed(0.9642) + fixed(1) + fixed(0.8249), at: 68)
        return header + table + contents
    }

    /// A power as 8.8 fixed-point number, or sRGB's curve as a table.
    private var curve: [UInt8] {
        let head = Array("curv".utf8) + [0, 0, 0, 0]
        if let gamma { return head + Self.big32(1) + Self.big16(UInt16((gamma * 256).rounded())) }
        let points = 1_024
        let table = (0..<points).flatMap {
            Self.big16(UInt16((decoded(Double($0) / Double(points - 1)) * 65_535).rounded()))
        }
        return head + Self.big32(UInt32(points)) + table
    }

    private static func xyz(_ numbers: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + numbers.flatMap(fixed)
    }

    private static func text(_ words: String) -> [UInt8] {
        Array("text".utf8) + [0, 0, 0, 0] + Array(words.utf8) + [0]
    }

    /// ASCII, no Unicode, no ScriptCode.
    private static var description: [UInt8] {
        let name = Array(profileName.utf8) + [0]
        return Array("desc".utf8) + [0, 0, 0, 0] + big32(UInt32(name.count)) + name
            + [UInt8](repeating: 0, count: 4 + 4 + 2 + 1 + 67)
    }

    /// s15Fixed16Number.
    private static func fixed(_ number: Double) -> [UInt8] {
        big32(UInt32(bitPattern: Int32((number * 65_536).rounded())))
    }

    private static func big16(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

    private static func big32(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
