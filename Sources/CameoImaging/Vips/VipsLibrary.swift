internal import CVips
package import CameoModel
internal import Foundation

/// The library as a whole, initialised once before anything else of this module is used.
package enum VipsLibrary {
    /// Loads libvips and its modules and applies the settings that Cameo relies on: no operation cache, one thread per
    /// pipeline, untrusted loaders blocked, warnings dropped instead of written to standard error.
    ///
    /// The exceptions among the untrusted loaders are SVG's and those of the optional formats that are allowed. Returns false if
    /// libvips could not be initialised.
    package static func start(allowing formats: Set<PictureFormat> = []) -> Bool {
        guard vips_init("cameo-renderer") == 0 else { return false }
        vips_cache_set_max(0)
        vips_concurrency_set(1)
        vips_block_untrusted_set(1)
        for format in formats.union([.svg]) {
            if let loader = loaderClass(of: format) { vips_operation_block_set(loader, 0) }
        }
        // A fatal message (g_error: out of memory) must still be seen.
        let keepFatalMessages: GLogFunc = { domain, level, message, data in
            guard cameo_log_is_fatal(level) != 0 else { return }
            g_log_default_handler(domain, level, message, data)
        }
        g_log_set_default_handler(keepFatalMessages, nil)
        return true
    }

    /// Runs work to its end in a thread that libvips starts: only in its own threads does libvips keep buffers of pixels
    /// for their next use, which saves up to a tenth of the time of a picture. The caller waits. Returns false if no thread
    /// could be started; then nothing was done.
    package static func run(_ work: () -> Void) -> Bool {
        withoutActuallyEscaping(work) { work in
            let box = Unmanaged.passRetained(Work(run: work))
            let body: GThreadFunc = { box in
                if let box { Unmanaged<Work>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }
            guard let thread = vips_g_thread_new("pictures", body, box.toOpaque()) else {
                box.release()
                return false
            }
            g_thread_join(thread)
            return true
        }
    }

    /// A closure behind the one pointer that a C thread gets.
    private final class Work {
        let run: () -> Void
        init(run: @escaping () -> Void) { self.run = run }
    }

    /// Whether libvips has a loader for the format, built in or as a module that it finds.
    package static func decodes(_ format: PictureFormat) -> Bool {
        loaderClass(of: format).map { cameo_vips_has_class($0) != 0 } ?? true
    }

    /// The loader's class for formats whose loader libvips does not trust; nil for all others.
    private static func loaderClass(of format: PictureFormat) -> String? {
        switch format {
        case .svg: "VipsForeignLoadSvg"
        case .pdf: "VipsForeignLoadPdf"
        case .jxl: "VipsForeignLoadJxl"
        case .jpeg, .png, .gif, .webp, .tiff, .heif, .avif, .initials, .video: nil
        }
    }

    /// The version of the library at run time (not of the header at compile time), such as `8.14.1`.
    package static var version: String { (0..<3).map { "\(vips_version(Int32($0)))" }.joined(separator: ".") }

    /// Forgets what libvips has noted so far, so that it explains no later failure: its loader of HEIF and AVIF leaves text
    /// of pictures that it has opened.
    static func forgetErrors() { vips_error_clear() }

    /// Takes libvips' latest error: its first line, printable, at most 200 characters; empty if there is none. For
    /// messages only, never for decisions.
    static func takeErrorText() -> String {
        defer { forgetErrors() }
        guard let text = vips_error_buffer() else { return "" }
        let line = String(cString: text).prefix { $0 != "\n" }
        let printable = line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(200)
        return String(String.UnicodeScalarView(printable))
    }
}

/// Finds out what the libraries of this host cannot read or write, by trying.
///
/// DESIGN. Nothing else tells: from Debian 13 on, libheif's codecs are packages of their own, which libvips' loaders and
/// savers do not miss before the first picture. The trial takes some 10 ms of processor time, nearly all of it for AVIF.
/// It runs in the locked process, since what a plugin needs there may be denied.
package enum FormatTrial {
    /// Everything that this host lacks, in a fixed order; empty on a complete one.
    package static func lacks() -> [HostLack] {
        var (files, lacks) = (samples, [HostLack]())
        let pixels = [UInt8](repeating: 0, count: 16 * 16 * 3)
        var fastest = Rendition.Encoding()
        fastest.effort = 1
        for format in Rendition.Format.written {
            let black = VipsPicture(bytes: pixels, size: PixelSize(16, 16), bands: 3, space: VIPS_INTERPRETATION_sRGB)
            let quality = Rendition(width: 16).quality(in: format)
            if let black, let file = format.encoder.file(of: black, fastest, quality: quality) {
                files[format.traits.picture] = file
            } else {
                lacks.append(.writing(format))
            }
        }
        for format in PictureFormat.allCases {
            if let file = files[format], !reads(file, as: format) { lacks.append(.reading(format)) }
        }
        _ = VipsLibrary.takeErrorText()
        return lacks
    }

    private static func reads(_ file: Data, as format: PictureFormat) -> Bool {
        file.withUnsafeBytes { VipsPicture(opening: $0, as: format, LoadOptions())?.materialized() != nil }
    }

    /// Small black pictures in the formats that are not written here, or not always.
    private static let samples: [PictureFormat: Data] = [
        .svg: Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>"#.utf8),
        .tiff: base64(
            """
            SUkqAAwAAAAAAAAADwAAAQMAAQAAAAIAAAABAQMAAQAAAAIAAAACAQMAAQAAAAgAAAADAQMAAQAAAAEAAAAGAQMAAQAAAAEAAAAR
            AQQAAQAAAAgAAAASAQMAAQAAAAEAAAAVAQMAAQAAAAEAAAAWAQMAAQAAAIAAAAAXAQQAAQAAAAQAAAAaAQUAAQAAAMYAAAAbAQUA
            AQAAAM4AAAAcAQMAAQAAAAEAAAAoAQMAAQAAAAMAAABTAQMAAQAAAAEAAAAAAAAACgAAAAEAAAAKAAAAAQAAAA==
            """
        ),
        .heif: base64(
            """
            AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUJtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
            AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFmAAEAAAAAAAAAFgAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA
            AGh2YzEAAAAAwmlwcnAAAACkaXBjbwAAAHhodmNDAQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMA
            AAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQAAAABRpc3Bl
            AAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAoMAAAAebWRhdAAAABIoAa8TgObIaFP//7rj
            p5Rho5g=
            """
        ),
        .avif: base64(
            """
            AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
            AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAHAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA
            AGF2MDEAAAAAamlwcnAAAABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAQAAAAEAAA
            ABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAAEEgYIDhAAAACRtZGF0EgAKCRgM/9ggQEDQgDINGAAKKKKEADlTjzRAoA==
            """
        ),
    ]

    private static func base64(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }
}
