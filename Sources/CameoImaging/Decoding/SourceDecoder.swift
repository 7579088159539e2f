internal import CameoModel

/// Decodes what one group of renditions needs from a source, once.
struct SourceDecoder {
    let reader: SourceReader
    /// The facts of the decoded page; their size is the page's own.
    let facts: PictureFacts

    /// Decodes the page whose header is already open and checked, at an upright size (see ``SharedSize``), and keeps all
    /// or a part of it (see ``EarlyCut``).
    func page(
        _ group: RenditionGroup,
        header: consuming VipsPicture,
        at size: PixelSize,
        keeping kept: PixelArea? = nil,
        keepsProfile: Bool
    ) throws(ImagingError) -> SharedPicture {
        let shared = header.isTurnedSideways ? size.turned : size
        let stored = PixelSize(header.width, header.height)
        let canvas = reader.canvas(header)
        var plan = SourcePlan(format: reader.format, sharedSize: shared)
        plan.kept = kept?.stored(of: size, orientation: header.orientation)
        let shrink = ShrinkOnLoad(
            for: reader.format,
            from: stored,
            measuredBy: header.measure,
            to: shared,
            hasAlpha: header.hasAlpha
        )
        let isMeasured = header.measure > 1
        let headerBytes = header.decodingBytes
        let picture = shrink == .none ? header : try reader.open(page: group.page, shrink: shrink)
        let decodingBytes = isMeasured ? picture.decodingBytes : headerBytes
        return try noticingExhaustion(of: decodingBytes) { () throws(ImagingError) in
            try decode(picture, plan, keepsProfile, canvas, page: group.page, keeping: kept, animation: nil)
        }
    }

    /// Decodes all frames at their own size: resized together, each would bleed into its neighbours.
    func animation(keepsProfile: Bool) throws(ImagingError) -> SharedPicture {
        let roll = try reader.animation(facts)
        let decodingBytes = roll.decodingBytes
        let animation = Animation(of: roll)
        return try noticingExhaustion(of: decodingBytes) { () throws(ImagingError) in
            let plan = SourcePlan(format: reader.format, sharedSize: nil)
            return try decode(roll, plan, keepsProfile, facts.size, animation: animation)
        }
    }

    /// The pixels with a profile that fits them, if any, and with colours that are not multiplied by alpha.
    private func understood(
        _ opened: borrowing VipsPicture,
        _ item: HEIFItem?,
        _ page: Int
    ) throws(ImagingError) -> VipsPicture {
        guard var picture = opened.withFittingProfile() else { throw corrupt }
        if reader.format == .tiff, let page = reader.tiffPage(page) {
            guard let plain = try page.understood(picture) else { throw corrupt }
            picture = plain
        }
        guard item?.isPremultiplied == true, picture.hasAlpha else { return picture }
        guard let plain = picture.unpremultiplied()?.rounded()?.cast(to: picture.format) else { throw corrupt }
        return plain
    }

    /// The colour space that the file names by code points. A profile outranks those of HEIF and AVIF, not PNG's.
    private func color(of picture: borrowing VipsPicture, _ item: HEIFItem?) -> CodedColor? {
        switch reader.format {
        case .png, .video: PNGColor.named(in: reader.bytes)
        default: picture.hasProfile ? nil : item?.color
        }
    }

    private var corrupt: ImagingError { .corrupt(reader.format, detail: VipsLibrary.takeErrorText()) }

    private func decode(
        _ opened: borrowing VipsPicture,
        _ plan: SourcePlan,
        _ keepsProfile: Bool,
        _ canvas: PixelSize,
        page: Int = 0,
        keeping kept: PixelArea? = nil,
        animation: Animation?
    ) throws(ImagingError) -> SharedPicture {
        var plan = plan
        let item = reader.format == .heif || reader.format == .avif ? HEIFItem(in: reader.bytes) : nil
        let opened = try understood(opened, item, page)
        plan.codedColor = color(of: opened, item)
        plan.profile = opened.metadata(.profile).flatMap { MatrixProfile(Array($0)) }
        var loaded = try RenderPipeline.prepare(opened.sharingReference(), by: RenderPipeline.loading, plan)
        var device: VipsPicture?
        if keepsProfile, plan.codedColor == nil, loaded.hasProfile, loaded.hasDeviceNumbers, !loaded.isCMYK {
            loaded = try Decode.apply(to: loaded, plan)
            device = try finish(loaded.sharingReference(), by: RenderPipeline.keepingProfile, plan, animation)
        }
        let standard = try finish(loaded, by: RenderPipeline.standardizing, plan, animation)
        return SharedPicture(
            standard: standard,
            device: device,
            facts: facts,
            canvas: canvas,
            kept: kept,
            animation: animation,
            header: opened
        )
    }

    private func finish(
        _ picture: consuming VipsPicture,
        by steps: [any PreparationStep.Type],
        _ plan: SourcePlan,
        _ animation: Animation?
    ) throws(ImagingError) -> VipsPicture {
        let pixels = try RenderPipeline.prepare(picture, by: steps, plan)
        guard animation == nil else { return pixels }
        return try RenderPipeline.prepare(pixels, by: RenderPipeline.uprighting, plan)
    }

    /// Tells memory exhaustion from damage: libvips reports the same error for a large allocation that failed.
    private func noticingExhaustion(
        of bytes: Int,
        _ decode: () throws(ImagingError) -> SharedPicture
    ) throws(ImagingError) -> SharedPicture {
        do throws(ImagingError) {
            return try decode()
        } catch {
            guard AddressSpace.hasRoom(for: bytes) else { throw .outOfMemory }
            throw error
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
