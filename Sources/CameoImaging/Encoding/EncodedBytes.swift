internal import Foundation

/// The file of a thumbnail.
struct EncodedBytes {
    let bytes: Data
    /// Whether any pixel may be transparent.
    let hasAlpha: Bool
}
