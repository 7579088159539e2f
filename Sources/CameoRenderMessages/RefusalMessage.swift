package import CameoModel

/// A renderer's answer to a job that it could not carry out.
package struct RefusalMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.refusal

    /// The failures that a renderer itself reports; the worker detects all others.
    package enum Reason: String, CaseIterable, Sendable {
        case unsupportedFormat, corrupt, tooManyPixels, tooManyFrames, noSuchPage, cropOutside, tooManyBytes
        case noPicture, unsupportedCodec, outOfMemory, failed
        /// Only of a ``SourceKind/partialVideo``.
        case bytesMissing
    }

    /// The most places that one message names.
    package static let mostMissing = 64

    package let reason: Reason
    /// A predicate that completes a sentence beginning with the source's name: `is not a picture …`.
    package let predicate: String
    /// Offsets of bytes in the source that are missing, in no order; not empty for ``Reason/bytesMissing`` alone.
    package let missing: [Int]

    package init(_ reason: Reason, predicate: String) {
        self.reason = reason
        self.predicate = predicate
        missing = []
    }

    package init(missing: [Int]) {
        reason = .bytesMissing
        predicate = "lacks some of its bytes"
        self.missing = missing
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        reason = try reader.choice("reason", Reason.self)
        predicate = try reader.string("predicate", maximumBytes: 4_096)
        missing =
            reason == .bytesMissing ? try Self.offsets(try reader.array("missing", maximumCount: Self.mostMissing)) : []
    }

    private static func offsets(_ values: [JSONValue]) throws(MalformedMessage) -> [Int] {
        var offsets: [Int] = []
        for value in values {
            guard case .integer(let offset) = value, offset >= 0 else {
                throw MalformedMessage("an offset of missing bytes must be a whole number")
            }
            offsets.append(Int(offset))
        }
        guard !offsets.isEmpty else { throw MalformedMessage("no bytes are named that are missing") }
        return offsets
    }

    package var json: JSONValue {
        let members: [String: JSONValue] = ["reason": .string(reason.rawValue), "predicate": .string(predicate)]
        guard reason == .bytesMissing else { return .object(members) }
        return .object(members.merging(["missing": .array(missing.map { .integer(Int64($0)) })]) { $1 })
    }
}
