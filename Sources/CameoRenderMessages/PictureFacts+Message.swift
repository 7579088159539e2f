internal import CameoModel

extension PictureFacts {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        self.init(
            format: try reader.choice("format", PictureFormat.self),
            width: try reader.integer("width", in: 1...10_000_000),
            height: try reader.integer("height", in: 1...10_000_000),
            pages: try reader.integer("pages", in: 1...10_000_000),
            hasAlpha: try reader.bool("hasAlpha"),
            video: try reader.optional("video").map { json throws(MalformedMessage) in try VideoFacts(json: json) }
        )
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "format": .string(format.rawValue),
            "width": .integer(Int64(width)),
            "height": .integer(Int64(height)),
            "pages": .integer(Int64(pages)),
            "hasAlpha": .bool(hasAlpha),
        ]
        if let video { members["video"] = video.json }
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
            hasAudio: try reader.bool("hasAudio")
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
        return .object(members)
    }
}
