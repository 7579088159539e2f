/// Finds the word that was probably meant.
enum Spelling {
    /// The closest word, with at most a third of its letters and at most three of them wrong.
    static func nearest(to word: some StringProtocol, of words: [String]) -> String? {
        let distances = words.sorted().map { ($0, distance(Array(word), Array($0))) }
        guard let (nearest, distance) = distances.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= min(3, word.count / 3) ? nearest : nil
    }

    /// The Levenshtein distance: the number of letters to insert, remove or replace.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        // The distance of the examined prefix of `one` to each prefix of `other`.
        var row = Array(0...other.count)
        for (line, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, counterpart) in other.enumerated() {
                let replaced = diagonal + (letter == counterpart ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
