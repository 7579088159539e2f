internal import ArgumentParser
internal import CameoModel
internal import Foundation

/// A command whose words without an option are sources: paths, patterns, URIs.
package protocol SourceTaking {}

/// The words of a command line as the parser is to see them.
struct CommandWords {
    private let root: any ParsableCommand.Type
    private let words: [[UInt8]]

    /// The words are as the kernel hands them over: bytes.
    init(_ words: [[UInt8]], for root: any ParsableCommand.Type) {
        (self.root, self.words) = (root, words)
    }

    static var ofThisProcess: [[UInt8]] {
        UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
            .compactMap { $0.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } }
    }

    /// - Throws: ``ValidationError`` for a word that the parser would misread.
    func parsed() throws -> [String] {
        // A completion script asks, and hands over whatever is typed so far.
        guard words.first.map({ $0.elementsEqual("---completion".utf8) }) != true else {
            return words.map(FilePaths.readable)
        }
        var result: [String] = []
        for (index, bytes) in words.enumerated() {
            if bytes.elementsEqual("--".utf8) {
                result += try words[index...].map { try text($0, after: nil) }
                break
            }
            let word = try text(bytes, after: result.last)
            if Self.isBundle(word), try !takesValue(result.last) { throw Self.refusal(of: word) }
            result.append(word)
        }
        return storeBehindSubcommand(result)
    }

    /// A name that is no UTF-8 is a source by its `file:` URI; anywhere else it is refused.
    private func text(_ bytes: [UInt8], after previous: String?) throws -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        guard command(of: words) is any SourceTaking.Type, bytes.first != UInt8(ascii: "-"),
            try !takesValue(previous)
        else { throw ValidationError("'\(FilePaths.readable(bytes))' is not UTF-8") }
        return FileURI(path: bytes).text
    }

    /// The parser takes `-photo.jpg` for `-p -h -o …`, and answers with its help. No two of our options are written so.
    private static func isBundle(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 && !word.dropFirst(2).hasPrefix("=")
    }

    private static func refusal(of word: String) -> ValidationError {
        ValidationError("Unknown option '\(word)'. A name that begins with - stands behind --, or is written ./\(word)")
    }

    private func takesValue(_ word: String?) throws -> Bool {
        guard let word, word.hasPrefix("-") else { return false }
        return try ListedOptions(of: root).takesValue(word)
    }

    /// `cameo-status --store DIR job 7` is as good as `cameo-status job 7 --store DIR`; ArgumentParser takes only the
    /// latter.
    private func storeBehindSubcommand(_ words: [String]) -> [String] {
        let length = storeLength(words)
        guard length > 0, words.count > length else { return words }
        let end = length + subcommands(words[length...]).count
        return Array(words[length..<end] + words[..<length] + words[end...])
    }

    private func storeLength(_ words: [String]) -> Int {
        words.first == "--store" ? 2 : words.first?.hasPrefix("--store=") == true ? 1 : 0
    }

    private func command(of words: [[UInt8]]) -> any ParsableCommand.Type {
        let words = words.map(FilePaths.readable)
        return subcommands(words.dropFirst(storeLength(words))).last ?? root
    }

    /// Those that the words begin with, each one of the one before.
    private func subcommands(_ words: ArraySlice<String>) -> [any ParsableCommand.Type] {
        var found: [any ParsableCommand.Type] = []
        for word in words {
            let next = (found.last ?? root).configuration.subcommands.first { $0._commandName == word }
            guard let next else { break }
            found.append(next)
        }
        return found
    }
}
