internal import ArgumentParser

/// How lists of sources are written, for every command that reads them.
package struct ListOptions: ParsableArguments {
    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "The list on standard input has a NUL behind each entry, as find -print0 writes it, and not a line end."
    )
    var null = false

    package init() {}

    package var separator: ListSeparator { null ? .nul : .newline }

    /// `-0` alone means a list.
    package func sources(_ arguments: [String]) throws -> [String] {
        guard null, !arguments.contains("-") else { return arguments }
        guard arguments.isEmpty else { throw ValidationError("-0 is for a list: give - among the sources") }
        return ["-"]
    }
}
