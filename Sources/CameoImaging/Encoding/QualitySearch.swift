internal import Foundation

/// Finds the highest quality whose file fits a number of bytes.
///
/// A binary search, since every look costs an encoding. Sizes need not grow with quality everywhere (they rarely fail
/// to): what is answered fits, but a higher quality might have too.
struct QualitySearch {
    /// Encodings in all. Seven halvings lead from 100 to 1, so that the lowest quality is tried before giving up; on
    /// another way one step of quality may stay untried.
    private static let attempts = 7

    private let limit: Int
    private var untried: ClosedRange<Int>?
    private var attempts = 1
    private(set) var best: Data

    /// `first` is what `highest`, the quality that is wanted, makes.
    init(limit: Int, highest: Int, first: Data) {
        self.limit = limit
        best = first
        untried = first.count > limit && highest > 1 ? 1...highest - 1 : nil
    }

    /// The quality to try; nil: it is decided.
    var next: Int? { attempts < Self.attempts ? untried.map { ($0.lowerBound + $0.upperBound) / 2 } : nil }

    /// What became of the quality that ``next`` was.
    mutating func note(_ bytes: Data, at quality: Int) {
        guard let range = untried else { return }
        attempts += 1
        if bytes.count <= limit {
            // Later ones that fit are of higher quality.
            best = bytes
            untried = quality < range.upperBound ? quality + 1...range.upperBound : nil
        } else {
            if bytes.count < best.count { best = bytes }
            untried = range.lowerBound < quality ? range.lowerBound...quality - 1 : nil
        }
    }
}
