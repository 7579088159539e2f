internal import CameoModel

extension RequestScope {
    /// The scope of all credentials of a request: its headers, and the user name and password of its URL in the form of the
    /// header that they become.
    package init?(of uri: String, headers: [String: String]) {
        var all = headers
        // The name cannot be that of a header, so requests that differ in either have different scopes.
        all["user information"] = (try? HTTPURL(parsing: uri))?.authorization
        self.init(headers: all)
    }
}
