internal import Foundation

extension Pictures {
    /// 960 × 640, RGB, no profile: smooth colours with a little grain, much like a photograph. As `png`, `jpg`, `webp`,
    /// `gif`, `tif`, `heic` or `avif`.
    package static func photo(_ ending: String = "png") async throws -> String {
        try await file("photo.\(ending)") { path in
            switch ending {
            case "png": try await makePhoto(path)
            case "heic": try await vips("heifsave", photo(), path, "--compression", "hevc", "--effort", "0")
            case "avif": try await vips("heifsave", photo(), path, "--compression", "av1", "--effort", "0")
            default: try await vips("copy", photo(), path)
            }
        }
    }

    private static func makePhoto(_ path: String) async throws {
        for seed in ["1", "2", "3"] {
            try await vips("perlin", "\(path)-\(seed)a.v", "960", "640", "--cell-size", "96", "--seed", seed)
            try await vips("linear", "\(path)-\(seed)a.v", "\(path)-\(seed)b.v", "260", "128", "--uchar")
        }
        try await vips("bandjoin", "\(path)-1b.v \(path)-2b.v \(path)-3b.v", "\(path)-c.v")
        try await vips("gaussnoise", "\(path)-n.v", "960", "640", "--sigma", "6", "--mean", "0", "--seed", "4")
        try await vips("add", "\(path)-c.v", "\(path)-n.v", "\(path)-d.v")
        try await vips("cast", "\(path)-d.v", "\(path)-e.v", "uchar")
        try await vips("copy", "\(path)-e.v", path, "--interpretation", "srgb")
    }

    /// A photo made by one operation on ``photo(_:)``, its name and ending given.
    package static func photo(as name: String, by words: [String], _ more: [String] = []) async throws -> String {
        try await file(name) { path in
            try await tool("vips", words.prefix(1) + [photo(), path] + words.dropFirst() + more)
        }
    }

    package static func interlacedPNG() async throws -> String {
        try await photo(as: "interlaced.png", by: ["pngsave", "--interlace"])
    }

    package static func progressiveJPEG() async throws -> String {
        try await photo(as: "progressive.jpg", by: ["jpegsave", "--interlace"])
    }

    package static func grey(_ ending: String) async throws -> String {
        try await photo(as: "grey.\(ending)", by: ["colourspace", "b-w"])
    }

    package static func sixteenBit(_ ending: String) async throws -> String {
        try await photo(as: "sixteen.\(ending)", by: ["colourspace", "rgb16"])
    }

    /// The photo's colours in Display P3's numbers, with that profile.
    package static func displayP3(_ ending: String) async throws -> String {
        try await photo(as: "p3.\(ending)", by: ["icc_transform", "p3", "--input-profile", "srgb"])
    }

    /// The photo's colours in CMYK, with an embedded profile or without.
    package static func cmyk(withProfile: Profile) async throws -> String {
        let plain = try await photo(as: "cmyk.jpg", by: ["icc_transform", "cmyk", "--input-profile", "srgb"])
        switch withProfile {
        case .absent: return plain
        case .embedded:
            return try await file("cmyk-profile.jpg") { try await vips("jpegsave", plain, $0, "--profile", "cmyk") }
        }
    }

    /// Whether a picture carries its ICC profile.
    package enum Profile: Sendable {
        case embedded, absent
    }

    /// 240 × 160: a red disc, opaque, on fully transparent black.
    package static func disc(_ ending: String) async throws -> String {
        try await file("disc.\(ending)") { path in
            let svg =
                "<svg xmlns='http://www.w3.org/2000/svg' width='240' height='160'>"
                + "<circle cx='120' cy='80' r='70' fill='#ff0000'/></svg>"
            try svg.write(toFile: "\(path).svg", atomically: true, encoding: .utf8)
            try await vips("svgload", "\(path).svg", "\(path)-a.v")
            try await vips("copy", "\(path)-a.v", path)
        }
    }

    /// A plain grey picture of a size.
    package static func plain(_ width: Int, _ height: Int, _ ending: String = "png") async throws -> String {
        try await file("plain-\(width)x\(height).\(ending)") { path in
            try await vips("black", "\(path).v", "\(width)", "\(height)", "--bands", "3")
            try await vips("linear", "\(path).v", "\(path)-b.v", "1 1 1", "90 120 150", "--uchar")
            try await vips("copy", "\(path)-b.v", path, "--interpretation", "srgb")
        }
    }
}

extension Pictures {
    /// Three frames of 80 × 60 pixels, the second inverted: encoders merge frames that are the same.
    package static func animation(_ ending: String) async throws -> String {
        try await file("animation.\(ending)") { path in
            let (first, last) = try await (plain(80, 60), plain(80, 60, "tif"))
            try await vips("invert", first, "\(path)-i.png")
            try await vips("arrayjoin", "\(first) \(path)-i.png \(last)", "\(path).v", "--across", "1")
            try await vips("copy", "\(path).v", "\(path)[page_height=60]")
        }
    }
}

extension Pictures {
    /// ``disc(_:)`` on white at the right end of 960 × 160 white pixels.
    package static func discInStrip() async throws -> String {
        try await file("strip.png") { path in
            try await vips("flatten", disc("png"), "\(path).v", "--background", "255 255 255")
            try await vips("embed", "\(path).v", path, "720", "0", "960", "160", "--extend", "white")
        }
    }
}
