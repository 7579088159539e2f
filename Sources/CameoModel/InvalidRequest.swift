/// A request that cannot be accepted: which field, and what is wrong with it.
package struct InvalidRequest: Error, Hashable, CustomStringConvertible {
    /// The field, as `renditions[0].width`; empty for the request as a whole.
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
