extension JSONValue {
    /// Parses a complete JSON document of at most `limit` bytes.
    package init(reading text: some Sequence<UInt8>, atMost limit: Int) throws(InvalidRequest) {
        let text = Array(text)
        guard text.count <= limit else {
            throw InvalidRequest(path: "", reason: "has \(text.count) bytes, more than \(limit)")
        }
        do throws(JSONSyntaxError) {
            self = try JSONValue(parsing: text)
        } catch {
            throw InvalidRequest(path: "", reason: "malformed JSON: \(error)")
        }
    }
}
