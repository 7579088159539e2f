internal import CameoModel
internal import Foundation
internal import HTTPTypes

/// A `multipart/form-data` body, which browsers send for forms with files (RFC 7578). The parts are slices of the body,
/// which may be a mapped file.
struct MultipartForm {
    private static let maximumParts = 20
    private static let maximumHeader = 4_096
    private let parts: [(name: String, data: Data)]

    /// - Throws: ``Problem`` for a malformed form, and for two parts with the same name.
    init(_ body: Data, boundary: String) throws(Problem) {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter need not follow a line break.
        let opening = delimiter.dropFirst(2)
        guard let first = body.starts(with: opening) ? opening.count : body.range(of: delimiter)?.upperBound else {
            throw Self.malformed("the boundary does not occur in it")
        }
        var rest = body[first...]
        var parts: [(String, Data)] = []
        while !rest.starts(with: Data("--".utf8)) {
            guard let line = rest.range(of: Data("\r\n".utf8)), let end = rest.range(of: delimiter) else {
                throw Self.malformed("a part has no end")
            }
            guard parts.count < Self.maximumParts else {
                throw Self.malformed("it has more than \(Self.maximumParts) parts")
            }
            let part = try Self.part(
                line.upperBound <= end.lowerBound
                    ? rest[line.upperBound..<end.lowerBound] : rest[end.lowerBound..<end.lowerBound]
            )
            guard !parts.contains(where: { $0.0 == part.name }) else {
                throw Self.malformed("the part \"\(part.name)\" occurs twice")
            }
            parts.append((part.name, part.data))
            rest = rest[end.upperBound...]
        }
        self.parts = parts
    }

    var names: [String] { parts.map(\.name) }

    subscript(name: String) -> Data? { parts.first { $0.name == name }?.data }

    private static func part(_ bytes: Data) throws(Problem) -> (name: String, data: Data) {
        let gap = Data("\r\n\r\n".utf8)
        guard let end = bytes.prefix(maximumHeader).range(of: gap) else { throw malformed("a part has no header") }
        let header = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        for line in header.lines {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2, pair[0].lowercased() == "content-disposition" else { continue }
            guard let name = MediaTypeField(String(pair[1]))["name"] else { break }
            return (name, bytes[end.upperBound...])
        }
        throw malformed("a part has no name")
    }

    private static func malformed(_ reason: String) -> Problem {
        Problem(.badRequest, "the multipart/form-data is malformed: \(reason)")
    }
}
