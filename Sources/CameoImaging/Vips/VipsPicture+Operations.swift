internal import CVips

/// One method an operation of libvips. All return nil when the operation failed.
extension VipsPicture {
    /// All pixels computed, here and now; what follows may read them in any order. This is where a damaged file shows.
    func materialized() -> VipsPicture? { VipsPicture(adopting: vips_image_copy_memory(image)) }

    func converted(to space: VipsInterpretation) -> VipsPicture? {
        VipsPicture { cameo_vips_colourspace(image, $0, space) }
    }

    var canBeConverted: Bool { vips_colourspace_issupported(image) != 0 }

    /// To 8-bit sRGB by the embedded profile.
    func convertedByProfile() -> VipsPicture? { VipsPicture { cameo_vips_to_srgb(image, $0, nil) } }

    /// To 8-bit sRGB by the embedded profile, else by libvips' own CMYK profile.
    func convertedFromCMYK() -> VipsPicture? { VipsPicture { cameo_vips_to_srgb(image, $0, "cmyk") } }

    func premultiplied() -> VipsPicture? { VipsPicture { cameo_vips_premultiply(image, $0) } }

    func unpremultiplied() -> VipsPicture? { VipsPicture { cameo_vips_unpremultiply(image, $0) } }

    func cast(to format: VipsBandFormat) -> VipsPicture? { VipsPicture { cameo_vips_cast(image, $0, format) } }

    /// A scale over 1 enlarges.
    func resized(horizontalScale: Double, verticalScale: Double) -> VipsPicture? {
        VipsPicture { cameo_vips_resize(image, $0, horizontalScale, verticalScale) }
    }

    /// Turned and mirrored by its EXIF orientation; reads pixels in any order.
    func upright() -> VipsPicture? { VipsPicture { cameo_vips_autorot(image, $0) } }

    func cropped(left: Int, top: Int, width: Int, height: Int) -> VipsPicture? {
        VipsPicture {
            cameo_vips_extract_area(image, $0, Int32(left), Int32(top), Int32(width), Int32(height))
        }
    }

    /// Cut to the part that interests most; reads pixels in any order.
    func smartCropped(width: Int, height: Int, by interest: VipsInteresting) -> VipsPicture? {
        VipsPicture { cameo_vips_smartcrop(image, $0, Int32(width), Int32(height), interest) }
    }

    /// The same pixels without any header field that can be removed.
    func withoutMetadata() -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        guard let fields = vips_image_get_fields(copy.image) else { return nil }
        defer { g_strfreev(fields) }
        var index = 0
        while let field = fields[index] {
            vips_image_remove(copy.image, field)
            index += 1
        }
        return copy
    }

    func addingAlpha() -> VipsPicture? { VipsPicture { cameo_vips_add_alpha(image, $0) } }

    /// Shown on a plain background, which has a number for every band.
    func embedded(left: Int, top: Int, width: Int, height: Int, background: [Double]) -> VipsPicture? {
        VipsPicture {
            cameo_vips_embed(
                image,
                $0,
                Int32(left),
                Int32(top),
                Int32(width),
                Int32(height),
                background,
                Int32(background.count)
            )
        }
    }

    /// Alpha removed, shown over a colour, which has a number for every band but alpha.
    func flattened(background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_flatten(image, $0, background, Int32(background.count)) }
    }

    func firstBands(_ count: Int) -> VipsPicture? {
        VipsPicture { cameo_vips_first_bands(image, $0, Int32(count)) }
    }

    /// Shown over a colour that is transparent itself: red, green, blue, alpha, 0…255. The picture must have these
    /// four bands.
    func composited(over background: [Double]) -> VipsPicture? {
        VipsPicture { cameo_vips_composite_over(image, $0, background) }
    }
}
