/// No renderer can be started; the description names the attempt and its error.
package struct RendererUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
