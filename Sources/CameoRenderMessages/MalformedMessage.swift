/// A message that the receiver cannot accept, and the reason.
package struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
