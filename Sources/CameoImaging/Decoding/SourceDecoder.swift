internal import CameoModel

/// Decodes what one group of renditions needs from a source, once.
struct SourceDecoder {
    let reader: SourceReader
    /// That of the decoded page.
    let shape: SourceShape

    /// Decodes the page whose header is already open and checked, at an upright size (see ``SharedSize``), and keeps all
    /// or a part of it (see ``EarlyCut``).
    func page(
        _ page: Int,
        header: consuming VipsPicture,
        at size: PixelSize,
        keeping kept: PixelArea? = nil,
        keepsProfile: Bool
    ) throws(ImagingError) -> SharedPicture {
        let shared = header.isTurnedSideways ? size.turned : size
        var plan = SourcePlan(format: reader.format, sharedSize: shared)
        plan.kept = kept?.stored(of: size, orientation: header.orientation)
        let shrink = ShrinkOnLoad(for: reader.format, from: header, to: shared)
        if let pixels = reader.pixels(header, shrink) {
            let bytes = pixels.decodingBytes
            return try decode(header, plan, keepsProfile, bytes, pixels: pixels, keeping: kept, animation: nil)
        }
        let isMeasured = header.measure > 1
        let headerBytes = header.decodingBytes
        let picture = shrink == .none ? try reader.whole(header, page) : try reader.open(page: page, shrink: shrink)
        let bytes = isMeasured ? picture.decodingBytes : headerBytes
        return try decode(picture, plan, keepsProfile, bytes, page: page, keeping: kept, animation: nil)
    }

    /// Decodes all frames at their own size: resized together, each would bleed into its neighbours.
    func animation(_ facts: PictureFacts, keepsProfile: Bool) throws(ImagingError) -> SharedPicture {
        let roll = try reader.animation(facts)
        let plan = SourcePlan(format: reader.format, sharedSize: nil)
        return try decode(roll, plan, keepsProfile, roll.decodingBytes, animation: Animation(of: roll))
    }

    /// The pixels with a profile that fits them, if any, and with colours that are not multiplied by alpha.
    private func understood(_ opened: borrowing VipsPicture, _ page: Int) throws(ImagingError) -> VipsPicture {
        guard var picture = opened.withFittingProfile() else { throw corrupt }
        if reader.format == .tiff, let page = reader.tiffPage(page) {
            guard let plain = try page.understood(picture) else { throw corrupt }
            picture = plain
        }
        if page == 0, let item = reader.item {
            guard let meant = item.understood(picture, in: reader.bytes) else { throw corrupt }
            picture = meant
        }
        guard reader.item?.isPremultiplied == true, picture.hasAlpha else { return picture }
        guard let plain = picture.unpremultiplied()?.rounded()?.cast(to: picture.format) else { throw corrupt }
        return plain
    }

    /// The colour space that the file names by code points. A profile outranks those of HEIF and AVIF, not PNG's.
    private func color(of picture: borrowing VipsPicture) -> CodedColor? {
        switch reader.format {
        case .png, .video: PNGColor.named(in: reader.bytes)
        default: picture.hasProfile ? nil : reader.item?.color
        }
    }

    private var corrupt: ImagingError { .corrupt(reader.format) }

    /// `pixels` are those of `opened`, if they are decoded. `bytes` is the most memory that decoding needs.
    private func decode(
        _ opened: borrowing VipsPicture,
        _ plan: SourcePlan,
        _ keepsProfile: Bool,
        _ bytes: Int,
        pixels: consuming VipsPicture? = nil,
        page: Int = 0,
        keeping kept: PixelArea? = nil,
        animation: Animation?
    ) throws(ImagingError) -> SharedPicture {
        do throws(ImagingError) {
            var plan = plan
            guard reader.item?.isCovered != false else {
                throw ImagingError.corrupt(reader.format, detail: "its tiles do not cover it")
            }
            if page == 0, let item = reader.item, item.otherMatrix != nil, let form = item.unsupported {
                throw ImagingError.unsupportedPixels(form)
            }
            let opened = try understood(opened, page)
            plan.codedColor = color(of: opened)
            plan.profile = opened.metadata(.profile).flatMap { MatrixProfile(Array($0)) }
            let pixels = pixels ?? opened.sharingReference()
            var loaded = try RenderPipeline.prepare(pixels, by: RenderPipeline.loading, plan)
            let last: [any PreparationStep.Type] = animation == nil ? RenderPipeline.uprighting : []
            var device: VipsPicture?
            if keepsProfile, plan.codedColor == nil, loaded.hasProfile, loaded.hasDeviceNumbers, !loaded.isCMYK {
                loaded = try Decode.apply(to: loaded, plan)
                let steps = RenderPipeline.keepingProfile + last
                device = try RenderPipeline.prepare(loaded.sharingReference(), by: steps, plan)
            }
            let standard = try RenderPipeline.prepare(loaded, by: RenderPipeline.standardizing + last, plan)
            return SharedPicture(
                standard: standard,
                device: device,
                shape: shape,
                kept: kept,
                animation: animation,
                header: opened.sharingReference(),
                bytes: reader.bytes
            )
        } catch {
            // libvips reports the same error for damage and for a large allocation that failed.
            throw AddressSpace.hasRoom(for: bytes) ? error : ImagingError.outOfMemory
        }
    }
}

/// What the preparation steps need to know.
struct SourcePlan {
    let format: PictureFormat
    /// The target size in stored pixels, before the orientation is applied; nil keeps every pixel.
    let sharedSize: PixelSize?
    /// The part that is needed of the shrunk picture, in stored pixels; nil for all of it.
    var kept: PixelArea?
    /// The colour space that the file declares by code points, which outrank a profile.
    var codedColor: CodedColor?
    /// The embedded profile, if it is one that Cameo applies.
    var profile: MatrixProfile?
}
