extension ThumbnailRequest {
    /// Checks every limit of the wire contract, so that an accepted request can be carried out.
    public func validate() throws(InvalidRequest) {
        try Self.validateSource(source, at: "source")
        try Rendition.validate(renditions, at: "renditions")
        try validateScheduling()
        try HeaderRules.validate(headers, at: "headers")
        let metadataBytes = JSONValue.object(metadata).canonicalText.utf8.count
        guard metadata.isEmpty || metadataBytes <= Self.maximumMetadataBytes else {
            throw refuse("metadata", "has \(metadataBytes) bytes as JSON, more than \(Self.maximumMetadataBytes)")
        }
    }

    /// This valid request for another source, which alone is checked.
    package func replacing(source: String) throws(InvalidRequest) -> ThumbnailRequest {
        try Self.validateSource(source, at: "source")
        var request = self
        request.source = source
        return request
    }

    private func refuse(_ field: String, _ reason: String) -> InvalidRequest {
        InvalidRequest(path: field, reason: reason)
    }

    /// Checks the source of a request or overlay.
    static func validateSource(_ source: String, at path: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: path, reason: reason) }
        guard !source.isEmpty else { throw refuse("is empty") }
        guard !source.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw refuse("has a control character")
        }
        if InlinePicture.isIn(source) {
            do throws(InvalidRequest) {
                _ = try InlinePicture(parsing: source)
            } catch {
                throw refuse(error.reason)
            }
            return
        }
        guard source.utf8.count <= maximumSourceBytes else {
            throw refuse("has \(source.utf8.count) bytes, more than \(maximumSourceBytes)")
        }
        if Initials.isInitialsURI(source) {
            do throws(InvalidRequest) {
                _ = try Initials(parsing: source)
            } catch {
                throw refuse(error.reason)
            }
            return
        }
        let isCameo = String(decoding: source.utf8.prefix(6), as: UTF8.self).lowercased() == "cameo:"
        guard !isCameo || CameoURI(source) != nil else { throw refuse("\"\(source)\" is not a cameo: URI") }
    }

    private func validateScheduling() throws(InvalidRequest) {
        guard Self.isLabel(queue) else {
            throw refuse("queue", "must be 1 to 64 of a-z 0-9 . _ -, not \"\(queue)\"")
        }
        if let hook, !Self.isLabel(hook) { throw refuse("hook", "must be 1 to 64 of a-z 0-9 . _ -, not \"\(hook)\"") }
        guard Self.priorityRange.contains(priority) else {
            throw refuse("priority", "must be between -100 and 100, not \(priority)")
        }
        guard Self.attemptsRange.contains(maxAttempts) else {
            throw refuse("maxAttempts", "must be between 1 and 25, not \(maxAttempts)")
        }
        if let timeout, !Self.timeoutRange.contains(timeout) {
            throw refuse("timeout", "must be between 1 and 3600 seconds, not \(timeout)")
        }
        try retry?.validate()
        for (field, text) in [("batch", batch), ("uniqueKey", uniqueKey), ("concurrencyKey", concurrencyKey)] {
            guard let text, !Self.isName(text) else { continue }
            throw refuse(field, "must be 1 to 200 characters without control characters")
        }
        if let concurrencyLimit {
            let range = Self.concurrencyLimitRange
            guard range.contains(concurrencyLimit) else {
                let reason = "must be between \(range.lowerBound) and \(range.upperBound), not \(concurrencyLimit)"
                throw refuse("concurrencyLimit", reason)
            }
            guard concurrencyKey != nil else { throw refuse("concurrencyLimit", "needs a concurrencyKey") }
        }
    }

    /// Whether the text is a valid batch name, unique key or concurrency key.
    package static func isName(_ text: String) -> Bool {
        (1...200).contains(text.unicodeScalars.count)
            && !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    }

    /// Whether the text is a valid name of a queue, hook or preset.
    package static func isLabel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2E || byte == 0x5F
                    || byte == 0x2D
            }
    }
}
