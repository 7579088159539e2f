package import CameoModel

/// A message between worker and renderer.
package protocol RenderMessage: Sendable {
    static var kind: FrameHeader.Kind { get }
    var json: JSONValue { get }
    init(json: JSONValue) throws(MalformedMessage)
}

extension RenderMessage {
    /// The whole frame: header and JSON text.
    package var frame: [UInt8] {
        let text = Array(json.canonicalText.utf8)
        return FrameHeader(kind: Self.kind, length: text.count).bytes + text
    }

    /// Decodes the bytes that follow the frame header.
    package init(decoding text: some Sequence<UInt8>) throws(MalformedMessage) {
        let json: JSONValue
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: text)
        } catch {
            throw MalformedMessage("a \(Self.kind) message is not JSON: \(error)")
        }
        try self.init(json: json)
    }
}
