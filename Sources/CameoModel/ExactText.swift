/// Text compared by its bytes. Swift's own comparison treats "é" and "e" plus a combining accent as equal, and would
/// merge two queues, files or URLs whose names differ only in that.
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
