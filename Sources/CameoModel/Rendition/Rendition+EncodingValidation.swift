extension Rendition {
    func validateEncoding(at path: String) throws(InvalidRequest) {
        try Self.check(quality, in: Self.qualityRange, path, "quality")
        try Self.check(encoding.effort, in: Encoding.effortRange, path, "effort")
        try Self.check(encoding.maxBytes, in: Encoding.maxBytesRange, path, "maxBytes")
        for option in EncodingOption.allCases where isSet(option) {
            if let objection = objection(to: option) { throw Self.refusal(path, option.rawValue, objection) }
        }
        if encoding.animated, page != 0 {
            throw Self.refusal(path, "page", "selects one frame, but animated asks for all of them")
        }
        if encoding.animated, time != .auto {
            throw Self.refusal(path, "time", "selects one moment, but animated asks for many")
        }
        if encoding.animated, storyboard != nil {
            throw Self.refusal(path, "animated", "shows frames one after another, but a storyboard shows all at once")
        }
        guard encoding.keepProfile else { return }
        let colors = [
            ("background", background != nil), ("border", look.border != nil), ("tint", look.tint != nil),
            ("overlay", look.overlay != nil),
        ]
        for (field, isSet) in colors where isSet {
            throw Self.refusal(path, field, "is in sRGB, but keepProfile leaves the picture in its own colour space")
        }
    }
}
