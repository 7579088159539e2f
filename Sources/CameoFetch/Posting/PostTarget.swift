package import CameoModel

/// An `http:` or `https:` URL to which an operator has messages posted. No address is refused: the URL is configuration.
package struct PostTarget: Sendable {
    let url: HTTPURL

    /// - Throws: `InvalidRequest` with an empty path.
    package init(_ text: String) throws(InvalidRequest) {
        do throws(HTTPURL.ParsingError) {
            url = try HTTPURL(parsing: text)
        } catch {
            let reason =
                switch error {
                case .malformed(let reason): reason
                case .scheme(let scheme): "its scheme is \(scheme)"
                }
            throw InvalidRequest(path: "", reason: "is not an http: or https: URL: \(reason)")
        }
    }
}
