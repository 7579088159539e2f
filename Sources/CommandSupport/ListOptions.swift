internal import ArgumentParser

/// The format of lists of sources, for every command that reads them.
package struct ListOptions: ParsableArguments {
    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "Read a list from standard input whose entries end with NUL (find -print0), not with a newline."
    )
    var null = false

    package init() {}

    package var separator: ListSeparator { null ? .nul : .newline }

    /// The arguments; `-0` alone implies a list.
    package func sources(_ arguments: [String]) throws -> [String] {
        guard null, !arguments.contains("-") else { return arguments }
        guard arguments.isEmpty else { throw ValidationError("-0 needs a list: give - as a SOURCE") }
        return ["-"]
    }
}
