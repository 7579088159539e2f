/// A preview to show before a thumbnail has loaded.
package struct Placeholder: Hashable, Sendable {
    /// ThumbHash (https://evanw.github.io/thumbhash/), base64 with padding.
    package let thumbHash: String
    /// BlurHash (https://blurha.sh), 4 × 3 components, or 3 × 4 for a portrait picture.
    package let blurHash: String
    package let dominantColor: Color

    package init(thumbHash: String, blurHash: String, dominantColor: Color) {
        self.thumbHash = thumbHash
        self.blurHash = blurHash
        self.dominantColor = dominantColor
    }
}
