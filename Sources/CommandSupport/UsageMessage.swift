internal import ArgumentParser
internal import Foundation

/// The error message for a malformed command line: the mistake and the usage.
struct UsageMessage {
    let text: String

    /// The message for an error that the parser threw.
    init(of error: any Error, from root: any ParsableCommand.Type) {
        let text = root.fullMessage(for: error)
        guard let match = text.firstMatch(of: #/^Error: Unknown option '(--[^']*)'(\. Did you mean '[^']*'\?)?/#) else {
            self.text = text
            return
        }
        // The parser itself guesses with up to three wrong letters, however short the word: --fit for --width.
        let word = String(match.output.1.prefix { $0 != "=" })
        let words = (try? ListedOptions(of: root).words) ?? []
        let guess = Spelling.nearest(to: word.dropFirst(2), of: words.map { String($0.dropFirst(2)) })
        self.text =
            "Error: Unknown option '\(word)'" + (guess.map { ". Did you mean '--\($0)'?" } ?? "")
            + text[match.range.upperBound...]
    }

    /// The message for a mistake that the command found while it ran.
    init(_ mistake: String, of command: any ParsableCommand.Type, from root: any ParsableCommand.Type) {
        let usage = root.usageString(for: command)
        let name = usage.prefix { !"[<".contains($0) }.trimmingCharacters(in: .whitespaces)
        text = "Error: \(mistake)\nUsage: \(usage)\n  See '\(name) --help' for more information."
    }
}
