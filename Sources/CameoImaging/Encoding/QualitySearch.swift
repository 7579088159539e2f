internal import Foundation

/// Finds the highest quality whose file fits a byte limit.
///
/// DESIGN: a binary search, since every attempt costs an encoding. Sizes rarely fail to grow with quality; where they
/// do, the result fits, but a higher quality might have fitted too.
struct QualitySearch {
    /// The most encodings. Seven halvings lead from 100 to 1, so that the lowest quality is tried before giving up; on
    /// other paths one step of quality may stay untried.
    private static let attempts = 7

    private let limit: Int
    private var untried: ClosedRange<Int>?
    private var attempts = 1
    private(set) var best: Data

    /// `first` is the file of `highest`, the requested quality.
    init(limit: Int, highest: Int, first: Data) {
        self.limit = limit
        best = first
        untried = first.count > limit && highest > 1 ? 1...highest - 1 : nil
    }

    /// The quality to try, or nil if the search is over.
    var next: Int? { attempts < Self.attempts ? untried.map { ($0.lowerBound + $0.upperBound) / 2 } : nil }

    /// Records the file of a quality that ``next`` returned.
    mutating func note(_ bytes: Data, at quality: Int) {
        guard let range = untried else { return }
        attempts += 1
        if bytes.count <= limit {
            // A later file that fits has a higher quality.
            best = bytes
            untried = quality < range.upperBound ? quality + 1...range.upperBound : nil
        } else {
            if bytes.count < best.count { best = bytes }
            untried = range.lowerBound < quality ? range.lowerBound...quality - 1 : nil
        }
    }
}
