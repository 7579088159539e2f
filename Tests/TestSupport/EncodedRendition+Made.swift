package import CameoModel
package import Foundation

extension EncodedRendition {
    /// What a renderer might have answered: these bytes as a small WebP.
    package static func made(
        of bytes: Data,
        hasAlpha: Bool = false,
        frames: Int = 1
    ) -> EncodedRendition {
        EncodedRendition(
            bytes: bytes,
            width: 64,
            height: 48,
            format: .webp,
            hasAlpha: hasAlpha,
            frames: frames,
            placeholder: .made
        )
    }
}

extension Placeholder {
    /// That of ``EncodedRendition/made(of:hasAlpha:frames:)``.
    package static let made = Placeholder(
        thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
        blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
        dominantColor: Color(red: 0xA1, green: 0xB2, blue: 0xC3, alpha: 0xFF)
    )
}
