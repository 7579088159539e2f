internal import CVips
internal import Foundation

extension VipsPicture {
    /// Metadata that libvips' loaders hand on as they found it.
    enum MetadataField: String {
        case exif = "exif-data"
        case xmp = "xmp-data"
        case profile = "icc-profile-data"
    }

    /// A copy; nil if there is none.
    func metadata(_ field: MetadataField) -> Data? {
        if let bytes = blob(field.rawValue) { return bytes }
        guard field == .xmp else { return nil }
        // The loader of HEIF and AVIF knows XMP only by `<x:xmpmeta`, where most programs write a line before that, and
        // calls the rest `heif-mime-` and a number. Whether it is XMP is seen from the bytes.
        for index in 0..<Self.mostItems {
            if let bytes = blob("heif-mime-\(index)") { return bytes }
        }
        return nil
    }

    /// Items of metadata in a file that are looked at.
    private static let mostItems = 16

    private func blob(_ name: String) -> Data? {
        var bytes: UnsafeRawPointer?
        var count = 0
        guard vips_image_get_typeof(image, name) == vips_blob_get_type(),
            vips_image_get_blob(image, name, &bytes, &count) == 0, let bytes, count > 0
        else { return nil }
        return Data(bytes: bytes, count: count)
    }

    /// To 8-bit sRGB by this profile, whatever the picture says itself.
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
    /// The profile of sRGB pixels, as libvips brings it along.
    static func profileOfSRGB() -> Data? {
        var blob: UnsafeMutablePointer<VipsBlob>?
        guard cameo_vips_profile_load("srgb", &blob) == 0, let blob else { return nil }
        defer { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
        var count = 0
        guard let bytes = vips_blob_get(blob, &count) else { return nil }
        return Data(bytes: bytes, count: count)
    }
}
