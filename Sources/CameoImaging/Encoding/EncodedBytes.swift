internal import Foundation

/// A thumbnail's file.
struct EncodedBytes {
    let bytes: Data
    /// Whether any pixel may be transparent.
    let hasAlpha: Bool
}
