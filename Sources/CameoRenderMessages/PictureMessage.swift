package import CameoModel

/// A renderer's answer to a job that it has done. The bytes of the renditions follow in the same order.
extension RenderedPicture: RenderMessage {
    package static let kind = FrameHeader.Kind.picture

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        self.init(
            source: try PictureFacts(json: try reader.value("source")),
            isTruncated: try reader.bool("isTruncated"),
            renditions: try reader.array("renditions", maximumCount: ThumbnailRequest.maximumRenditions) {
                value throws(MalformedMessage) in try EncodedRendition(json: value)
            }
        )
    }

    package var json: JSONValue {
        .object([
            "source": source.json,
            "isTruncated": .bool(isTruncated),
            "renditions": .array(renditions.map(\.json)),
        ])
    }
}

extension EncodedRendition {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        self.init(
            byteCount: try reader.integer("bytes", in: 1...Int(Int32.max)),
            width: try reader.integer("width", in: Rendition.edgeRange),
            height: try reader.integer("height", in: Rendition.edgeRange),
            format: try reader.choice("format", Rendition.Format.self),
            hasAlpha: try reader.bool("hasAlpha"),
            frames: try reader.integer("frames", in: 1...1_000_000),
            placeholder: try Placeholder(json: try reader.value("placeholder"))
        )
    }

    var json: JSONValue {
        .object([
            "format": .string(format.rawValue),
            "width": .integer(Int64(width)),
            "height": .integer(Int64(height)),
            "bytes": .integer(Int64(byteCount)),
            "hasAlpha": .bool(hasAlpha),
            "frames": .integer(Int64(frames)),
            "placeholder": placeholder.json,
        ])
    }
}

extension PictureFacts {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        self.init(
            format: try reader.choice("format", PictureFormat.self),
            width: try reader.integer("width", in: 1...10_000_000),
            height: try reader.integer("height", in: 1...10_000_000),
            pages: try reader.integer("pages", in: 1...10_000_000),
            hasAlpha: try reader.bool("hasAlpha"),
            video: try reader.optional("video").map { json throws(MalformedMessage) in try VideoFacts(json: json) },
            omitted: try reader.strings("omitted", maximumCount: Part.allCases.count) { Part(rawValue: $0) },
            taken: Taken(at: try reader.optionalString("takenAt"), camera: try reader.optionalString("camera"))
        )
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "format": .string(format.rawValue),
            "width": .integer(Int64(width)),
            "height": .integer(Int64(height)),
            "pages": .integer(Int64(pages)),
            "hasAlpha": .bool(hasAlpha),
            "omitted": .array(omitted.map { .string($0.rawValue) }),
        ]
        if let video { members["video"] = video.json }
        if let at = taken?.at { members["takenAt"] = .string(at) }
        if let camera = taken?.camera { members["camera"] = .string(camera) }
        return .object(members)
    }
}

extension VideoFacts {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        func seconds(_ key: String) throws(MalformedMessage) -> Double? {
            guard reader.optional(key) != nil else { return nil }
            return Double(try reader.integer(key, in: 0...Int(Int64.max >> 12))) / 1_000
        }
        let rotation = try reader.integer("rotation", in: 0...270)
        guard Self.rotations.contains(rotation) else { throw MalformedMessage("rotation must be a quarter turn") }
        self.init(
            duration: try seconds("durationMilliseconds"),
            time: try seconds("timeMilliseconds"),
            codec: try reader.choice("codec", Codec.self),
            rotation: rotation,
            hasAudio: try reader.bool("hasAudio"),
            cover: reader.optional("cover") == nil ? nil : try reader.choice("cover", Cover.self)
        )
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "codec": .string(codec.rawValue),
            "rotation": .integer(Int64(rotation)),
            "hasAudio": .bool(hasAudio),
        ]
        for (key, seconds) in [("durationMilliseconds", duration), ("timeMilliseconds", time)] {
            if let seconds { members[key] = .integer(Int64((seconds * 1_000).rounded())) }
        }
        if let cover { members["cover"] = .string(cover.rawValue) }
        return .object(members)
    }
}

extension Placeholder {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        guard let color = Color(try reader.string("dominantColor", maximumBytes: 16)) else {
            throw MalformedMessage("dominantColor must be a colour")
        }
        let thumbHash = try reader.string("thumbHash", maximumBytes: 36)
        guard Self.isThumbHash(thumbHash) else { throw MalformedMessage("thumbHash must be base64") }
        let blurHash = try reader.string("blurHash", maximumBytes: 128)
        guard Self.isBlurHash(blurHash) else { throw MalformedMessage("blurHash must be 6…128 base-83 digits") }
        self.init(thumbHash: thumbHash, blurHash: blurHash, dominantColor: color)
    }

    /// Whether the text has four or more base64 digits and at most two `=`, as the queue's tables and JSON Schema
    /// require.
    private static func isThumbHash(_ text: String) -> Bool {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return digits.count >= 4 && text.utf8.count - digits.count <= 2
            && digits.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+/".utf8.contains($0) }
    }

    /// Whether the text has only digits of BlurHash
    /// (https://github.com/woltapp/blurhash/blob/master/Algorithm.md#base-83).
    private static func isBlurHash(_ text: String) -> Bool {
        let digits = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
        return (6...128).contains(text.utf8.count) && text.utf8.allSatisfy(digits.contains)
    }

    var json: JSONValue {
        .object([
            "thumbHash": .string(thumbHash),
            "blurHash": .string(blurHash),
            "dominantColor": .string(dominantColor.description),
        ])
    }
}
