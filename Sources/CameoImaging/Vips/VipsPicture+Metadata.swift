internal import CVips
internal import Foundation

extension VipsPicture {
    /// Metadata that libvips' loaders pass on unchanged.
    enum MetadataField: String {
        case exif = "exif-data"
        case xmp = "xmp-data"
        case profile = "icc-profile-data"
    }

    /// Notes what libvips' loader would have noted of EXIF that it did not see. The picture must be new: a header that
    /// others share is not changed.
    func adopt(_ exif: EXIFSegment, of bytes: UnsafeRawBufferPointer) {
        let payload = bytes[exif.payload]
        vips_image_set_blob_copy(
            image,
            Self.unreadEXIF,
            UnsafeRawBufferPointer(rebasing: payload).baseAddress,
            payload.count
        )
        vips_image_set_int(image, VIPS_META_ORIENTATION, Int32(exif.orientation))
    }

    /// EXIF that libvips has not read: it would parse a field of its own name at once.
    private static let unreadEXIF = "cameo-exif-data"

    /// The picture without a profile of other pixels than its own, which libvips would apply all the same: of a grey profile
    /// on RGB it makes alpha of green. A profile of RGB describes grey as well. Nil if libvips failed.
    func withFittingProfile() -> VipsPicture? {
        guard hasProfile else { return sharingReference() }
        let spaces = isCMYK ? ["CMYK"] : colorBands < 3 ? ["GRAY", "RGB "] : ["RGB ", "Lab "]
        let profile = ByteReader((metadata(.profile) ?? Data()).prefix(Self.profileHeader))
        if let kind = profile.name(at: 12), ["scnr", "mntr", "prtr", "spac"].contains(kind),
            let space = profile.name(at: 16), spaces.contains(space)
        {
            return sharingReference()
        }
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        vips_image_remove(copy.image, MetadataField.profile.rawValue)
        return copy
    }

    /// The bytes of a profile's header (ICC.1:2022, 7.2).
    private static let profileHeader = 128

    func metadata(_ field: MetadataField) -> Data? {
        if field == .exif, let bytes = blob(Self.unreadEXIF) { return bytes }
        if let bytes = blob(field.rawValue) { return bytes }
        guard field == .xmp else { return nil }
        // libvips' loader of HEIF and AVIF recognises XMP only if it starts with `<x:xmpmeta`, but most programs write
        // a line before that. It stores such items as `heif-mime-<number>`; the bytes tell whether they are XMP.
        for index in 0..<Self.mostItems {
            if let bytes = blob("heif-mime-\(index)") { return bytes }
        }
        return nil
    }

    /// The most metadata items of a file that are examined.
    private static let mostItems = 16

    private func blob(_ name: String) -> Data? {
        var bytes: UnsafeRawPointer?
        var count = 0
        guard vips_image_get_typeof(image, name) == vips_blob_get_type(),
            vips_image_get_blob(image, name, &bytes, &count) == 0, let bytes, count > 0
        else { return nil }
        return Data(bytes: bytes, count: count)
    }

    /// Converts to 8-bit sRGB by this profile, ignoring the picture's own.
    func converted(byProfile profile: Data) -> VipsPicture? {
        guard let copy = VipsPicture({ cameo_vips_copy(image, $0) }) else { return nil }
        profile.withUnsafeBytes { bytes in
            vips_image_set_blob_copy(
                copy.image,
                MetadataField.profile.rawValue,
                bytes.baseAddress,
                bytes.count
            )
        }
        return copy.convertedByProfile()
    }
}

extension VipsLibrary {
    /// The sRGB profile that libvips ships.
    static func profileOfSRGB() -> Data? {
        var blob: UnsafeMutablePointer<VipsBlob>?
        guard cameo_vips_profile_load("srgb", &blob) == 0, let blob else { return nil }
        defer { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
        var count = 0
        guard let bytes = vips_blob_get(blob, &count) else { return nil }
        return Data(bytes: bytes, count: count)
    }
}
