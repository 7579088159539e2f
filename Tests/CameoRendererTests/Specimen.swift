import CameoModel
import Foundation
import TestSupport

/// A rendition on disk, examined with libvips' own tools.
struct Specimen {
    private let folder: TemporaryFolder
    let path: String
    /// Its header, by field.
    let header: [String: String]
    /// Width and height.
    let edges: [Int]
    /// The description, such as `96x64 uchar, 3 bands, srgb, webpload`.
    let summary: String

    init(_ rendition: EncodedRendition) async throws {
        folder = try TemporaryFolder()
        path = try folder.write(rendition.bytes, to: "rendition.\(rendition.format.fileExtension)")
        let lines = try await Pictures.tool("vipsheader", ["-a", path]).split(separator: "\n")
        var header: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstRange(of: ": ") else { continue }
            header[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
        }
        self.header = header
        edges = ["width", "height"].map { header[$0].flatMap { Int($0) } ?? 0 }
        summary = header[path] ?? ""
    }

    /// The bands of one pixel.
    func pixel(_ x: Int, _ y: Int) async throws -> [Double] {
        try await Pictures.vips("getpoint", path, "\(x)", "\(y)").split(separator: " ").compactMap { Double($0) }
    }

    /// The mean over all pixels and bands.
    func mean() async throws -> Double { Double(try await Pictures.vips("avg", path)) ?? .nan }

    /// The mean absolute difference of all pixels to another picture of the same size, in 1/255.
    func difference(to other: String) async throws -> Double {
        try await Pictures.vips("subtract", path, other, folder.path("s.v"))
        try await Pictures.vips("abs", folder.path("s.v"), folder.path("a.v"))
        return Double(try await Pictures.vips("avg", folder.path("a.v"))) ?? .nan
    }

    /// Makes another picture beside it, for comparison.
    func beside(_ name: String, make: (String) async throws -> Void) async throws -> String {
        try await make(folder.path(name))
        return folder.path(name)
    }
}

extension Sequence {
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
