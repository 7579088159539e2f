internal import CVips
internal import CameoModel

/// Which part of a source is opened, and how.
struct LoadOptions: Hashable {
    /// The page to open, counted from 0.
    var page = 0
    /// Whether to open all pages, stacked vertically.
    var allPages = false
    var shrink = ShrinkOnLoad.none
    /// Whether to decode a damaged file as far as possible; otherwise any damage is an error.
    var toleratesDamage = false
}

extension VipsPicture {
    /// Opens a picture with the loader of its format and reads only the header. Nil if the loader refuses it. The bytes
    /// must outlive the picture and everything made from it lazily.
    init?(opening bytes: UnsafeRawBufferPointer, as format: PictureFormat, _ options: LoadOptions) {
        guard let source = vips_source_new_from_memory(bytes.baseAddress, bytes.count) else { return nil }
        self.init(opening: source, as: format, options)
    }

    /// Opens a picture like ``init(opening:as:_:)``, but its bytes are copied.
    init?(openingCopyOf bytes: [UInt8], as format: PictureFormat, _ options: LoadOptions) {
        guard let blob = vips_blob_copy(bytes, bytes.count) else { return nil }
        defer { vips_area_unref(UnsafeMutableRawPointer(blob).assumingMemoryBound(to: VipsArea.self)) }
        guard let source = vips_source_new_from_blob(blob) else { return nil }
        self.init(opening: source, as: format, options)
    }

    /// Opens a picture from a source, and drops the caller's reference to it.
    private init?(opening source: UnsafeMutablePointer<VipsSource>, as format: PictureFormat, _ options: LoadOptions) {
        defer { g_object_unref(source) }
        let failOn = options.toleratesDamage ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR
        let page = Int32(options.page)
        let count: Int32 = options.allPages ? -1 : 1
        let scale = options.shrink.scale
        self.init { out in
            switch format {
            case .jpeg: cameo_vips_jpegload(source, out, failOn, options.shrink.divisor)
            case .webp: cameo_vips_webpload(source, out, failOn, page, count, scale)
            case .png, .video: cameo_vips_pngload(source, out, failOn)
            case .gif: cameo_vips_gifload(source, out, failOn, page, count)
            case .tiff: cameo_vips_tiffload(source, out, failOn, page)
            case .heif, .avif: cameo_vips_heifload(source, out, failOn, page)
            case .svg: cameo_vips_svgload(source, out, failOn, scale)
            case .pdf: cameo_vips_pdfload(source, out, failOn, page, scale)
            case .jxl: cameo_vips_jxlload(source, out, failOn)
            // Initials are drawn, not loaded: see InitialsDrawing.
            case .initials: -1
            }
        }
    }
}
