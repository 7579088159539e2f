/// What stands between the entries of a list on standard input.
package enum ListSeparator: Sendable {
    case newline, nul

    var byte: UInt8 { self == .nul ? 0 : 0x0A }

    /// What an entry is called.
    var unit: String { self == .nul ? "entry" : "line" }
}
