internal import Foundation

/// The formats whose first bytes are known here, to catch a `data:` URI that declares one and carries another.
enum ImageSignature: CaseIterable {
    case jpeg, png, gif, webp, tiff, avif, heif

    /// - Parameter mediaType: in lower case, without parameters. Nil for types that are not known here.
    init?(mediaType: String) {
        switch mediaType {
        case "image/jpeg", "image/jpg", "image/pjpeg": self = .jpeg
        case "image/png", "image/x-png", "image/apng": self = .png
        case "image/gif": self = .gif
        case "image/webp": self = .webp
        case "image/tiff": self = .tiff
        case "image/avif": self = .avif
        case "image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence": self = .heif
        default: return nil
        }
    }

    func matches(_ bytes: Data) -> Bool {
        let head = Array(bytes.prefix(64))
        func has(_ text: String, at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: text.utf8) }
        switch self {
        case .jpeg: return head.starts(with: [0xFF, 0xD8, 0xFF])
        case .png: return head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .gif: return has("GIF87a") || has("GIF89a")
        case .webp: return has("RIFF") && has("WEBP", at: 8)
        case .tiff:  // the second pair is BigTIFF
            return [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A], [0x49, 0x49, 0x2B, 0], [0x4D, 0x4D, 0, 0x2B]]
                .contains(Array(head.prefix(4)))
        case .avif: return !Self.brands(of: head).isDisjoint(with: ["avif", "avis"])
        case .heif: return !Self.brands(of: head).isDisjoint(with: Self.heifBrands)
        }
    }

    private static let heifBrands: Set<String> = [
        "heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs", "mif1", "msf1", "avif", "avis",
    ]

    /// The major and compatible brands of an ISO base media file (ISO/IEC 14496-12, 4.3).
    private static func brands(of head: [UInt8]) -> Set<String> {
        guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return [] }
        let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
        let starts = [8] + stride(from: 16, through: min(length, head.count) - 4, by: 4)
        return Set(starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) })
    }
}
