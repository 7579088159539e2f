package import ArgumentParser
internal import CameoModel
package import CameoStore
internal import CameoSystem
internal import Foundation

/// A command whose positional arguments are sources: paths, patterns, URIs.
package protocol SourceTaking {}

/// The words of a command line, prepared for the parser.
struct CommandWords {
    private let root: any ParsableCommand.Type
    private let words: [[UInt8]]

    /// The words are bytes, as the kernel passes them.
    init(_ words: [[UInt8]], for root: any ParsableCommand.Type) {
        (self.root, self.words) = (root, words)
    }

    static var ofThisProcess: [[UInt8]] {
        UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
            .compactMap { $0.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } }
    }

    /// - Throws: ``ValidationError`` for a word that the parser would misread.
    func parsed() throws -> [String] {
        // A completion script is asking; it passes whatever has been typed so far.
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
            if Self.isBundle(word), try !takesValue(result.last) {
                let advice = "Write a name that begins with - after --, or as ./\(word)"
                throw ValidationError("Unknown option '\(word)'. \(advice)")
            }
            result.append(word)
        }
        return storeBehindSubcommand(result)
    }

    /// The word as text. A name that is not UTF-8 becomes a `file:` URI where a source or a folder of sources is
    /// expected, and is refused elsewhere.
    private func text(_ bytes: [UInt8], after previous: String?) throws -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let isSource = try command(of: words) is any SourceTaking.Type && !takesValue(previous)
        guard isSource || previous == "--allow-root", bytes.first != UInt8(ascii: "-") else {
            throw ValidationError("'\(FilePaths.readable(bytes))' is not UTF-8")
        }
        return FileURI(path: bytes).text
    }

    /// Whether the parser would read `-photo.jpg` as `-p -h -o …` and print its help. Cameo's options are never
    /// bundled.
    private static func isBundle(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 && !word.dropFirst(2).hasPrefix("=")
    }

    private func takesValue(_ word: String?) throws -> Bool {
        guard let word, word.hasPrefix("-") else { return false }
        return try ListedOptions(of: root).takesValue(word)
    }

    /// Moves `--store DIR` behind the subcommand, because ArgumentParser accepts `cameo-status job 7 --store DIR` but
    /// not `cameo-status --store DIR job 7`.
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

    /// The chain of subcommands at the beginning of the words.
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

/// The words of an unfinished command line, as a completion script passes them: with their quotes.
enum TypedWords {
    static func value(of option: String, in words: [String]) -> String? {
        if let word = words.last(where: { $0.hasPrefix("\(option)=") }) {
            return unquoted(word.dropFirst(option.count + 1))
        }
        // bash splits `--store=DIR` into `--store`, `=` and `DIR`.
        return words.lastIndex(of: option).flatMap { index in
            words[(index + 1)...].first { $0 != "=" }.flatMap { unquoted($0[...]) }
        }
    }

    private static func unquoted(_ word: Substring) -> String? {
        let text = word.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
        return text.isEmpty ? nil : text
    }
}

extension CompletionKind {
    package static var queues: CompletionKind {
        ofStore { store in try await store.queues().map(\.name) }
    }

    /// Completes the ids of living workers.
    package static var workers: CompletionKind {
        ofStore { store in try await store.status().workers.filter(\.isAlive).map(\.id) }
    }

    /// Completes names from the store that the words typed so far select; nothing if there is no such store.
    package static func ofStore(
        _ names: @escaping @Sendable (any Store) async throws -> [String]
    ) -> CompletionKind {
        .custom { (words: [String], _: Int, _: String) async -> [String] in
            var options = StoreOptions()
            options.store = TypedWords.value(of: "--store", in: words)
            options.blobs = TypedWords.value(of: "--blobs", in: words)
            guard let store = try? options.openReading() else { return [] }
            return (try? await names(store)) ?? []
        }
    }
}
