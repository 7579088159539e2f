package import CameoModel

/// A renderer's answer to a job that it could not carry out.
package struct RefusalMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.refusal

    /// The failures that a renderer itself reports; the worker detects all others.
    package enum Reason: String, CaseIterable, Sendable {
        case unsupportedFormat, corrupt, tooManyPixels, tooManyFrames, noSuchPage, cropOutside, tooManyBytes
        case noPicture, unsupportedCodec, outOfMemory, failed
    }

    package let reason: Reason
    /// A predicate that completes a sentence beginning with the source's name: `is not a picture …`.
    package let predicate: String

    package init(_ reason: Reason, predicate: String) {
        self.reason = reason
        self.predicate = predicate
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        reason = try reader.choice("reason", Reason.self)
        predicate = try reader.string("predicate", maximumBytes: 4_096)
    }

    package var json: JSONValue {
        .object(["reason": .string(reason.rawValue), "predicate": .string(predicate)])
    }
}
