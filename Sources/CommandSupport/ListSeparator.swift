/// The separator of entries in a list on standard input.
package enum ListSeparator: Sendable {
    case newline, nul

    var byte: UInt8 { self == .nul ? 0 : 0x0A }

    /// The name of an entry in messages.
    var unit: String { self == .nul ? "entry" : "line" }
}
