internal import CVips
internal import CameoModel

/// Evaluates libvips' lazy pipeline, from the decoder on, into memory. Damage behind the file's header surfaces in this
/// step and in no other.
enum Decode: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard let decoded = picture.materialized() else { throw .corrupt(source.format) }
        return decoded
    }
}

/// Cuts off what no rendition needs (``EarlyCut``).
enum CutEarly: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard let kept = source.kept else { return picture }
        return try .result(of: "cut", picture.cropped(to: kept))
    }
}

/// Cuts off what extends beyond the box.
enum Cut: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.geometry.isCut else { return picture }
        let box = plan.geometry.final
        guard picture.size != box else { return picture }
        var area = plan.cut ?? PixelArea(placing: box, in: plan.geometry.resized, gravity: plan.rendition.gravity)
        area.left -= plan.resized.left
        area.top -= plan.resized.top
        return picture.cropped(to: area)
    }

    /// The area that smart gravity picks from the first frame, used for all frames; nil for other gravities.
    static func chosenByPixels(
        of first: consuming VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> PixelArea? {
        guard plan.geometry.isCut, plan.rendition.gravity.isSmart else { return nil }
        let box = plan.geometry.final
        let interest = plan.rendition.gravity == .entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION
        let resized = try RenderPipeline.process(first, by: RenderPipeline.toBox, plan)
        // The search looks at every pixel several times.
        let cut = try VipsPicture.result(of: name, resized.materialized()?.smartCropped(to: box, by: interest))
        return PixelArea(left: -cut.offset.x, top: -cut.offset.y, size: box)
    }
}

/// Crops to the part that trimming and `crop` leave of the picture.
enum Crop: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.region != .whole(picture.size) else { return picture }
        return picture.cropped(to: plan.region)
    }
}

/// Applies `rotate`, then `flip`.
enum Turn: RenditionStep {
    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        var result = picture
        if let angle = angle(of: plan.rendition.rotate) {
            guard let rotated = result.rotated(by: angle) else { return nil }
            result = rotated
        }
        for direction in directions(of: plan.rendition.flip) {
            guard let flipped = result.flipped(direction) else { return nil }
            result = flipped
        }
        return result
    }

    private static func angle(of rotation: Rendition.Rotation) -> VipsAngle? {
        switch rotation {
        case .none: nil
        case .quarter: VIPS_ANGLE_D90
        case .half: VIPS_ANGLE_D180
        case .threeQuarters: VIPS_ANGLE_D270
        }
    }

    private static func directions(of flip: Rendition.Flip?) -> [VipsDirection] {
        switch flip {
        case nil: []
        case .horizontal: [VIPS_DIRECTION_HORIZONTAL]
        case .vertical: [VIPS_DIRECTION_VERTICAL]
        case .both: [VIPS_DIRECTION_HORIZONTAL, VIPS_DIRECTION_VERTICAL]
        }
    }
}

/// Applies the EXIF orientation; from here on all sizes are upright.
enum TurnUpright: PreparationStep {
    static func apply(to picture: consuming VipsPicture, _ source: SourcePlan) throws(ImagingError) -> VipsPicture {
        guard picture.orientation != 1 else { return picture }
        return try .result(of: "orientation", picture.upright())
    }
}
