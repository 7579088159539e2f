internal import CameoModel

/// Resizes from the shared size to the rendition's own.
enum Resize: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        Resampling.resize(picture, from: .memory, to: plan.resized.size)
    }
}

/// Shrinks to the size from which every rendition is made.
enum ShrinkToShared: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard let size = source.sharedSize else { return picture }
        return try .result(of: "resize", Resampling.resize(picture, from: .decoder, to: size))
    }
}

// DESIGN. libvips resizes vertically, then horizontally. Where it shrinks to a quarter or less, its horizontal half asks for
// one row at a time, and its vertical half reads all rows anew that each of them needs: nearly seven times as many as there
// are. So the vertical half is computed into memory first, from where the horizontal half makes the same pixels. A decoder
// delivers its rows in order, and libvips keeps the last ones.

/// Resizes to an exact size, with the box shrink and the Lanczos 3 kernel that libvips chooses.
enum Resampling {
    /// Where a picture's pixels come from.
    enum Origin {
        case decoder, memory
    }

    /// The factor down to which libvips' horizontal half takes many rows at once.
    private static let boxFactor = 0.25

    /// The resized picture, or nil if libvips failed.
    static func resize(_ picture: consuming VipsPicture, from origin: Origin, to size: PixelSize) -> VipsPicture? {
        guard picture.width != size.width || picture.height != size.height else { return picture }
        let resized = picture.changingVisible { scaled($0, from: origin, to: size) }
        guard picture.hasAlpha else { return resized }
        return resized?.rounded()?.cast(to: picture.format)
    }

    private static func scaled(
        _ picture: borrowing VipsPicture,
        from origin: Origin,
        to size: PixelSize
    ) -> VipsPicture? {
        let (horizontal, vertical) = size.factors(from: picture.size)
        guard origin == .memory, horizontal <= boxFactor else {
            return picture.resized(horizontalScale: horizontal, verticalScale: vertical)
        }
        return picture.inRowOrder()?.resized(horizontalScale: 1, verticalScale: vertical)?.materialized()?
            .inAnyOrder()?.resized(horizontalScale: horizontal, verticalScale: 1)
    }
}
