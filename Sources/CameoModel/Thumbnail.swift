package import Foundation

/// A stored thumbnail: what its renderer said of it, its source and its blob.
@dynamicMemberLookup
package struct Thumbnail: Hashable, Sendable {
    package let id: ThumbnailID
    package let blob: BlobDigest
    /// Without the bytes, which are the blob's.
    package let encoded: EncodedRendition
    package let source: PictureFacts
    package let sourceDigest: BlobDigest
    /// Whether the source was truncated, so that the thumbnail shows only part of it.
    package let isTruncated: Bool
    package let updatedAt: Date
    /// Set if it was asked for as a storyboard of a video.
    package let storyboard: Rendition.Storyboard?

    package init(
        id: ThumbnailID,
        blob: BlobDigest,
        encoded: EncodedRendition,
        source: PictureFacts,
        sourceDigest: BlobDigest,
        isTruncated: Bool = false,
        updatedAt: Date,
        storyboard: Rendition.Storyboard? = nil
    ) {
        (self.id, self.blob, self.encoded, self.source) = (id, blob, encoded, source)
        (self.sourceDigest, self.isTruncated, self.updatedAt) = (sourceDigest, isTruncated, updatedAt)
        self.storyboard = storyboard
    }

    /// The size of the blob in bytes.
    package var bytes: Int { encoded.byteCount }

    package subscript<Value>(dynamicMember path: KeyPath<EncodedRendition, Value>) -> Value { encoded[keyPath: path] }
}

/// A renderer's output for one rendition.
package struct EncodedRendition: Hashable, Sendable {
    /// None as long as they are only announced, and of a stored thumbnail.
    package var bytes: Data
    package let byteCount: Int
    /// Width and height are in pixels, of one frame.
    package let width: Int
    package let height: Int
    /// The format of the bytes; never `auto` or `source`.
    package let format: Rendition.Format
    package let hasAlpha: Bool
    /// 1 for a still picture.
    package let frames: Int
    package let placeholder: Placeholder
    /// The facts of the frame that it shows, if the source is a video: each rendition may show another.
    package var source: PictureFacts?

    package init(
        bytes: Data = Data(),
        byteCount: Int? = nil,
        width: Int,
        height: Int,
        format: Rendition.Format,
        hasAlpha: Bool,
        frames: Int,
        placeholder: Placeholder
    ) {
        (self.bytes, self.byteCount) = (bytes, byteCount ?? bytes.count)
        (self.width, self.height, self.format, self.hasAlpha) = (width, height, format, hasAlpha)
        (self.frames, self.placeholder) = (frames, placeholder)
    }
}

/// All requested renditions of one source.
package struct RenderedPicture: Hashable, Sendable {
    package let source: PictureFacts
    /// Whether the source was truncated, so that the renditions show only part of it.
    package let isTruncated: Bool
    /// The renditions in the order requested.
    package var renditions: [EncodedRendition]
    /// The version, such as `cameo-3 libvips-8.14.1`, which the worker knows of its renderer.
    package var rendererVersion = ""

    package init(source: PictureFacts, isTruncated: Bool, renditions: [EncodedRendition]) {
        (self.source, self.isTruncated, self.renditions) = (source, isTruncated, renditions)
    }
}

/// What decoding revealed about a source.
package struct PictureFacts: Hashable, Sendable {
    package let format: PictureFormat
    /// Width and height are in pixels, of the first page, upright.
    package let width: Int
    package let height: Int
    package let pages: Int
    package let hasAlpha: Bool
    /// Set if the source is a video, of which `width` and `height` are a frame's.
    package var video: VideoFacts?
    /// What renditions leave out, sorted by name.
    package var omitted: [Part]
    /// When and by what it was taken; nil unless the source says so.
    package var taken: Taken?
    /// Whether the pages are frames in time and there is more than one.
    package var isAnimated: Bool { format.isAnimatable && pages > 1 }

    /// How a photograph came to be.
    package struct Taken: Hashable, Sendable {
        /// The time of the camera's clock, with its offset from UTC if that is known: `2026-05-01T12:13:14+02:00`.
        package let at: String?
        /// The maker and model of the camera.
        package let camera: String?

        /// Reads what EXIF says; nil if nothing is left of it. What is malformed is left out.
        package init?(exif time: String?, offset: String?, make: String?, model: String?) {
            at = time.flatMap { time in
                guard let parts = try? #/(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/#.wholeMatch(in: time)?.output,
                    parts.2 != "00"
                else { return nil }
                let zone = offset.flatMap { try? #/[+-]\d\d:\d\d/#.wholeMatch(in: $0)?.output } ?? ""
                return "\(parts.1)-\(parts.2)-\(parts.3)T\(parts.4)\(zone)"
            }
            // Most models begin with the maker's name, in which makers differ from themselves.
            let (make, model) = (Self.line(make), Self.line(model))
            let isNamed = make?.split(separator: " ").first.map {
                model?.lowercased().hasPrefix($0.lowercased()) ?? false
            }
            let names = [isNamed == true ? nil : make, model].compactMap(\.self)
            camera = names.isEmpty ? nil : names.joined(separator: " ")
            if at == nil, camera == nil { return nil }
        }

        package init?(at: String?, camera: String?) {
            if at == nil, camera == nil { return nil }
            (self.at, self.camera) = (at, camera)
        }

        private static func line(_ text: String?) -> String? {
            guard let text = text?.trimmingCharacters(in: .whitespacesAndNewlines),
                ThumbnailRequest.isLine(text, of: 100)
            else { return nil }
            return text
        }
    }

    /// A part of a source that cannot be shown, or that does not fit the rest.
    package enum Part: String, CaseIterable, Sendable {
        case animation, background, clips, colorProfile, colors, depth, filters, foreignObject, gainMap, motion, paths
        case pictures, script, secondPicture, styles, text, transforms
    }

    package init(
        format: PictureFormat,
        width: Int,
        height: Int,
        pages: Int,
        hasAlpha: Bool,
        video: VideoFacts? = nil,
        omitted: [Part] = [],
        taken: Taken? = nil
    ) {
        (self.format, self.width, self.height, self.pages, self.hasAlpha) = (format, width, height, pages, hasAlpha)
        (self.video, self.omitted, self.taken) = (video, omitted, taken)
    }
}

/// A preview to show before a thumbnail has loaded.
package struct Placeholder: Hashable, Sendable {
    /// ThumbHash (https://evanw.github.io/thumbhash/), base64 with padding.
    package let thumbHash: String
    /// BlurHash (https://blurha.sh), 4 × 3 components, or 3 × 4 for a portrait picture.
    package let blurHash: String
    package let dominantColor: Color

    /// The colour as `#rrggbb`; a dominant colour is always opaque.
    package var dominantColorText: String { String(dominantColor.description.prefix(7)) }

    package init(thumbHash: String, blurHash: String, dominantColor: Color) {
        (self.thumbHash, self.blurHash, self.dominantColor) = (thumbHash, blurHash, dominantColor)
    }
}
