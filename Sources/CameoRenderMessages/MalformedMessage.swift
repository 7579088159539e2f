/// A message that its receiver cannot accept, and what is wrong with it.
package struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
