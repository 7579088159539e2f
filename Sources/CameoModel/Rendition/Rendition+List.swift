extension Rendition {
    static func list(_ items: [JSONValue], at path: String) throws(InvalidRequest) -> [Rendition] {
        var renditions: [Rendition] = []
        for (index, item) in items.enumerated() {
            renditions.append(try Rendition(json: item, at: "\(path)[\(index)]"))
        }
        return renditions
    }

    static func validate(_ renditions: [Rendition], at path: String) throws(InvalidRequest) {
        let maximumCount = ThumbnailRequest.maximumRenditions
        guard (1...maximumCount).contains(renditions.count) else {
            let reason = "must have 1 to \(maximumCount) entries, not \(renditions.count)"
            throw InvalidRequest(path: path, reason: reason)
        }
        var names: Set<String> = []
        for (index, rendition) in renditions.enumerated() {
            let place = "\(path)[\(index)]"
            try rendition.validate(at: place)
            guard names.insert(rendition.name).inserted else {
                throw refusal(place, "name", "\"\(rendition.name)\" is already used by an earlier rendition")
            }
        }
        let overlays = Set(renditions.compactMap(\.look.overlay?.source)).count
        guard overlays <= ThumbnailRequest.maximumOverlays else {
            let reason = "have \(overlays) different overlays, more than \(ThumbnailRequest.maximumOverlays)"
            throw InvalidRequest(path: path, reason: reason)
        }
    }
}
