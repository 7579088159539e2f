internal import CVips

extension VipsPicture {
    /// Opens a picture by the loader of its format; only the header is read. Nil if the loader refused. The bytes must
    /// outlive the picture and everything that is made from it lazily.
    init?(opening bytes: UnsafeRawBufferPointer, as format: PictureFormat, shrink: ShrinkOnLoad) {
        guard let source = vips_source_new_from_memory(bytes.baseAddress, bytes.count) else { return nil }
        defer { g_object_unref(source) }
        self.init { out in
            switch format {
            case .jpeg: cameo_vips_jpegload(source, out, shrink.divisor)
            case .webp: cameo_vips_webpload(source, out, shrink.scale)
            case .png: cameo_vips_pngload(source, out)
            case .gif: cameo_vips_gifload(source, out)
            case .tiff: cameo_vips_tiffload(source, out)
            case .heif, .avif: cameo_vips_heifload(source, out)
            }
        }
    }
}
