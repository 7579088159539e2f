package import Foundation

extension Pictures {
    /// Upright 60 × 40 pixels, red left above, green right above, blue left below, white right below; stored as an
    /// orientation wants it, with the EXIF tag that undoes it.
    package static func corners(orientation: Int) async throws -> String {
        try await file("corners-\(orientation).jpg") { path in
            let upright = try await file("corners.png", make: makeCorners)
            // What was done to the upright picture, so that the tag's meaning (TIFF 6.0, p. 36) brings it back.
            let steps: [[String]] =
                switch orientation {
                case 2: [["flip", "horizontal"]]
                case 3: [["rot", "d180"]]
                case 4: [["flip", "vertical"]]
                case 5: [["rot", "d90"], ["flip", "horizontal"]]
                case 6: [["rot", "d270"]]
                case 7: [["rot", "d90"], ["flip", "vertical"]]
                case 8: [["rot", "d90"]]
                default: []
                }
            var stored = upright
            for (index, step) in steps.enumerated() {
                let next = "\(path)-\(index).v"
                try await tool("vips", [step[0], stored, next, step[1]])
                stored = next
            }
            try await vips("jpegsave", stored, "\(path).plain.jpg", "--Q", "100", "--subsample-mode", "off")
            let jpeg = try Data(contentsOf: URL(filePath: "\(path).plain.jpg"))
            try withEXIF(jpeg, orientation: orientation).write(to: URL(filePath: path))
        }
    }

    private static let makeCorners: @Sendable (String) async throws -> Void = { path in
        try await vips("black", "\(path).v", "30", "20", "--bands", "3")
        for (name, color) in [("r", "255 0 0"), ("g", "0 255 0"), ("b", "0 0 255"), ("w", "255 255 255")] {
            try await vips("linear", "\(path).v", "\(path)-\(name).v", "1 1 1", color, "--uchar")
        }
        let tiles = ["r", "g", "b", "w"].map { "\(path)-\($0).v" }.joined(separator: " ")
        try await vips("arrayjoin", tiles, "\(path)-all.v", "--across", "2")
        try await vips("copy", "\(path)-all.v", path, "--interpretation", "srgb")
    }

    /// A JPEG with an EXIF segment behind its start: orientation, and a GPS folder's worth of something to strip.
    package static func withEXIF(_ jpeg: Data, orientation: Int) -> Data {
        let maker = Array("SECRET-CAMERA-NAME\0\0".utf8)
        var tiff: [UInt8] = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 2]
        // Make (0x010F), ASCII, behind the directory; Orientation (0x0112), SHORT.
        tiff += [0x01, 0x0F, 0, 2, 0, 0, 0, UInt8(maker.count), 0, 0, 0, 38]
        tiff += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0]
        tiff += [0, 0, 0, 0] + maker
        let payload = Array("Exif\0\0".utf8) + tiff
        let length = payload.count + 2
        return jpeg.prefix(2) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + payload + jpeg.dropFirst(2)
    }
}

extension Pictures {
    /// ``plain(_:_:_:)`` of this upright size, stored on its side.
    package static func turned(_ width: Int, _ height: Int, orientation: Int) async throws -> String {
        let stored = try await plain(height, width, "jpg")
        return try await file("turned-\(width)x\(height)-\(orientation).jpg") { path in
            let jpeg = try Data(contentsOf: URL(filePath: stored))
            try withEXIF(jpeg, orientation: orientation).write(to: URL(filePath: path))
        }
    }
}
