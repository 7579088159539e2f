import CameoModel
import Foundation
import TestSupport
import Testing

/// A file in `proto-json/examples`.
struct Example: CustomTestStringConvertible, Sendable {
    static let messages = [
        "thumbnail-request", "presets", "enqueue-receipt", "job", "job-failure", "status-report", "batch-report",
        "job-change", "health-report", "hooks", "hook-delivery", "hook-report",
        "thumbnail-facts", "batch-end",
    ]

    /// The entry of a refused example in `reasons.json`.
    struct Refusal: Decodable {
        /// Text that the error must contain: the field's path or, for malformed JSON, a word of the message.
        let field: String
        let why: String
        /// Whether a schema can detect the error.
        let bySchema: Bool
    }

    let message: String
    let url: URL

    var testDescription: String { "\(message)/\(url.lastPathComponent)" }
    var name: String { url.lastPathComponent }
    var data: Data { get throws { try Data(contentsOf: url) } }

    static func valid(_ message: String) -> [Example] { files(message, folder: folder(message)) }
    static func refused(_ message: String) -> [Example] {
        files(message, folder: folder(message).appending(path: "refused")).filter { $0.name != "reasons.json" }
    }

    static func reasons(_ message: String) throws -> [String: Refusal] {
        let file = folder(message).appending(path: "refused/reasons.json")
        return try JSONDecoder().decode([String: Refusal].self, from: Data(contentsOf: file))
    }

    private static func folder(_ message: String) -> URL { Repository.file("proto-json/examples/\(message)") }

    private static func files(_ message: String, folder: URL) -> [Example] {
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? [])
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { Example(message: message, url: $0) }
    }
}

extension JSONValue {
    /// The value at a path of keys and array indices; nil if there is none.
    subscript(_ path: String...) -> JSONValue? {
        path.reduce(self) { value, step -> JSONValue? in
            switch value {
            case .object(let members)?: members[step]
            case .array(let elements)?: Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }

    var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let double): double
        default: nil
        }
    }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }
}
