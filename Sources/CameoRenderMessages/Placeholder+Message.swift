internal import CameoModel

extension Placeholder {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        guard let color = Color(try reader.string("dominantColor", maximumBytes: 16)) else {
            throw MalformedMessage("dominantColor must be a colour")
        }
        self.init(
            thumbHash: try reader.string("thumbHash", maximumBytes: 64),
            blurHash: try reader.string("blurHash", maximumBytes: 128),
            dominantColor: color
        )
    }

    var json: JSONValue {
        .object([
            "thumbHash": .string(thumbHash),
            "blurHash": .string(blurHash),
            "dominantColor": .string(dominantColor.description),
        ])
    }
}
