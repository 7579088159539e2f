internal import Foundation

extension Pictures {
    /// A plain picture of 60 × 40 pixels in red, green, blue, one a page of a TIFF.
    package static func pages() async throws -> String {
        try await file("pages.tif") { path in
            let roll = try await colors(60, 40, path)
            try await vips("tiffsave", roll, path, "--page-height", "40")
        }
    }

    /// Three frames of 80 × 60 pixels in red, green, blue: 50, 120 and 300 ms, repeated twice. `gif` or
    /// `webp`.
    package static func timedAnimation(_ ending: String) async throws -> String {
        try await file("timed.\(ending)") { path in
            let roll = try await colors(80, 60, path)
            try await vips("copy", roll, "\(path).plain.gif[page_height=60]")
            let gif = try Data(contentsOf: URL(filePath: "\(path).plain.gif"))
            let timed = try retimed(Array(gif), delays: [5, 12, 30], loop: 2)
            try Data(timed).write(to: URL(filePath: "\(path).timed.gif"))
            if ending == "gif" {
                try Data(timed).write(to: URL(filePath: path))
            } else {
                try await vips("webpsave", "\(path).timed.gif[n=-1]", path, "--lossless")
            }
        }
    }

    /// Red, green and blue below one another, as a libvips file.
    private static func colors(_ width: Int, _ height: Int, _ path: String) async throws -> String {
        try await vips("black", "\(path)-0.v", "\(width)", "\(height)", "--bands", "3")
        for (name, color) in [("r", "255 0 0"), ("g", "0 255 0"), ("b", "0 0 255")] {
            try await vips("linear", "\(path)-0.v", "\(path)-\(name).v", "1 1 1", color, "--uchar")
        }
        // arrayjoin in one column ends in a segmentation fault in libvips 8.14.1.
        try await vips("join", "\(path)-r.v", "\(path)-g.v", "\(path)-rg.v", "vertical")
        try await vips("join", "\(path)-rg.v", "\(path)-b.v", "\(path)-roll.v", "vertical")
        try await vips("copy", "\(path)-roll.v", "\(path)-srgb.v", "--interpretation", "srgb")
        return "\(path)-srgb.v"
    }

    private struct NotAGIF: Error {}

    /// Sets the delays (hundredths of a second) in a GIF's graphic control extensions, and how often it is shown.
    private static func retimed(_ gif: [UInt8], delays: [UInt8], loop: UInt8) throws -> [UInt8] {
        var bytes = gif
        var frame = 0
        for index in bytes.indices.dropLast(8) where bytes[index...].starts(with: [0x21, 0xF9, 0x04]) {
            guard frame < delays.count else { throw NotAGIF() }
            (bytes[index + 4], bytes[index + 5]) = (delays[frame], 0)
            frame += 1
        }
        guard frame == delays.count else { throw NotAGIF() }
        let application: [UInt8] = [0x21, 0xFF, 0x0B] + Array("NETSCAPE2.0".utf8)
        let body: [UInt8] = [3, 1, loop, 0, 0]
        if let found = bytes.firstRange(of: application) {
            bytes.replaceSubrange(found.upperBound..<found.upperBound + body.count, with: body)
        } else {
            // Behind the header, the screen descriptor and its colour table.
            let tableBytes = bytes[10] & 0x80 != 0 ? 3 << (Int(bytes[10] & 7) + 1) : 0
            bytes.insert(contentsOf: application + body, at: 13 + tableBytes)
        }
        return bytes
    }

    /// ``disc(_:)`` on white.
    package static func discOnWhite() async throws -> String {
        try await file("disc-on-white.png") { path in
            try await vips("flatten", disc("png"), path, "--background", "255 255 255")
        }
    }

    /// A PDF of one page, 200 × 100 points, its left half red.
    package static func document() async throws -> String {
        let content = "1 0 0 rg 0 0 100 100 re f"
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R >>",
            "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
        ]
        var text = "%PDF-1.4\n"
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = text.utf8.count
        text += "xref\n0 5\n0000000000 65535 f \n"
        for offset in offsets { text += String(repeating: "0", count: 10 - "\(offset)".count) + "\(offset) 00000 n \n" }
        text += "trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n\(start)\n%%EOF\n"
        return try await bytes("document.pdf", Array(text.utf8))
    }
}
