internal import CameoModel
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// A `multipart/form-data` body, which browsers send for forms with files (RFC 7578). The parts are slices of the body,
/// which may be a mapped file.
struct MultipartForm {
    private static let maximumParts = 20
    private static let maximumHeader = 4_096
    private let parts: [(name: String, fileName: String?, data: Data)]

    /// - Throws: ``Problem`` for a malformed form, and for two parts with the same name.
    init(_ body: Data, boundary: String) throws(Problem) {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter need not follow a line break.
        let opening = delimiter.dropFirst(2)
        guard var line = Self.line(of: body.starts(with: opening) ? opening : delimiter, in: body) else {
            throw Self.malformed("the boundary does not occur in it")
        }
        var parts: [(name: String, fileName: String?, data: Data)] = []
        while !line.isLast {
            let rest = body[line.next...]
            guard let end = Self.line(of: delimiter, in: rest) else { throw Self.malformed("a part has no end") }
            guard parts.count < Self.maximumParts else {
                throw Self.malformed("it has more than \(Self.maximumParts) parts")
            }
            let part = try Self.part(rest[..<end.start])
            guard !parts.contains(where: { $0.name == part.name }) else {
                throw Self.malformed("the part \"\(part.name)\" occurs twice")
            }
            parts.append(part)
            line = end
        }
        self.parts = parts
    }

    /// The next line that is a delimiter. A line of a picture may begin like one.
    private static func line(of delimiter: Data, in body: Data) -> (start: Int, next: Int, isLast: Bool)? {
        var rest = body
        while let found = rest.range(of: delimiter) {
            rest = body[found.upperBound...]
            let isLast = rest.starts(with: Data("--".utf8))
            let end = rest.dropFirst(isLast ? 2 : 0).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if end.starts(with: Data("\r\n".utf8)) { return (found.lowerBound, end.startIndex + 2, isLast) }
            if isLast, end.isEmpty { return (found.lowerBound, end.startIndex, isLast) }
        }
        return nil
    }

    var names: [String] { parts.map(\.name) }

    subscript(name: String) -> Data? { parts.first { $0.name == name }?.data }

    /// The name of the file that a part was made of.
    func fileName(of name: String) -> String? { parts.first { $0.name == name }?.fileName }

    private static func part(_ bytes: Data) throws(Problem) -> (name: String, fileName: String?, data: Data) {
        let gap = Data("\r\n\r\n".utf8)
        guard let end = bytes.prefix(maximumHeader).range(of: gap) else { throw malformed("a part has no header") }
        let header = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        var (name, fileName): (String?, String?)
        for line in header.lines {
            let pair = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            switch (pair.first?.lowercased(), pair.last) {
            case ("content-disposition", let value?):
                let field = MediaTypeField(quoted(value))
                (name, fileName) = (field["name"].map(unescaped), field["filename"].map(unescaped))
            case ("content-encoding", let value?), ("content-transfer-encoding", let value?):
                guard ["identity", "binary", "8bit", "7bit"].contains(value.lowercased()) else {
                    throw Problem(.unsupportedMediaType, "a part is encoded as \(value): it must have no coding")
                }
            default: break
            }
        }
        if let name { return (name, fileName, bytes[end.upperBound...]) }
        throw malformed("a part has no name")
    }

    /// Browsers escape nothing with a backslash (https://html.spec.whatwg.org/#multipart-form-data); other clients escape
    /// quotation marks so, and no name ends with those. Returns the field as RFC 9110 would have it.
    private static func quoted(_ field: String) -> String {
        field.replacing(#/\\(?!"(?!\s*(;|$)))/#, with: #"\\"#)
    }

    /// Undoes the three escapes of browsers.
    private static func unescaped(_ name: String) -> String {
        name.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    private static func malformed(_ reason: String) -> Problem {
        Problem(.badRequest, "the multipart/form-data is malformed: \(reason)")
    }
}

/// Bounds the bytes of uploads that have arrived and wait on the disk until a store takes them. Nobody waits for room, as for
/// that of sources: the client is told to come again.
package final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// The bytes of one upload, until it is released.
    package final class Share: Sendable {
        private let budget: UploadBudget
        private let bytes = Mutex(0)

        fileprivate init(_ budget: UploadBudget) { self.budget = budget }

        deinit {
            let own = bytes.withLock { $0 }
            budget.used.withLock { $0 -= own }
        }

        package var count: Int { bytes.withLock { $0 } }

        /// Adds bytes that have arrived. A single upload is always admitted.
        ///
        /// - Throws: ``Problem`` with status 503 if the uploads in progress leave no room.
        package func grow(by count: Int) throws {
            let isAdmitted = bytes.withLock { own in
                budget.used.withLock { used in
                    guard used == own || used + count <= budget.limit else { return false }
                    used += count
                    own += count
                    return true
                }
            }
            guard !isAdmitted else { return }
            let reason = "too many uploads are in progress; repeat this one later"
            throw Problem(.serviceUnavailable, reason, headers: [.retryAfter: "1"], isOthersFault: true)
        }
    }

    package func share() -> Share { Share(self) }
}
