/// No renderer can be started at all: what was tried, and why it failed.
package struct RendererUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
