/// Text that is told apart by its bytes. To Swift's own comparison an "é" is the same as an "e" with an accent behind it,
/// and two queues, files or URLs whose names differ only in that would be one.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
