internal import Foundation

/// The words of an unfinished command line, as a completion script passes them: with their quotes.
package struct TypedWords {
    private let words: [String]

    package init(_ words: [String]) {
        self.words = words
    }

    package func value(of option: String) -> String? {
        if let word = words.last(where: { $0.hasPrefix("\(option)=") }) {
            return unquoted(word.dropFirst(option.count + 1))
        }
        // bash splits `--store=DIR` into `--store`, `=` and `DIR`.
        return words.lastIndex(of: option).flatMap { index in
            words[(index + 1)...].first { $0 != "=" }.flatMap { unquoted($0[...]) }
        }
    }

    private func unquoted(_ word: Substring) -> String? {
        let text = word.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
        return text.isEmpty ? nil : text
    }
}
