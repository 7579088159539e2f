internal import CVips
package import CameoModel
internal import Foundation

/// Finds out what the libraries of this host cannot read or write, by trying.
///
/// DESIGN. Nothing else tells: from Debian 13 on, libheif's codecs are packages of their own, which libvips' loaders and
/// savers do not miss before the first picture. The trial takes some 10 ms of processor time, nearly all of it for AVIF.
/// It runs in the locked process, since what a plugin needs there may be denied.
package enum FormatTrial {
    private static let savers: [(format: Rendition.Format, saver: VipsSaver)] = [
        (.jpeg, .jpeg(quality: 75, chroma: .quarter, isProgressive: false)), (.png, .png(effort: 1)),
        (.webp, .webp(quality: 75, alphaQuality: 100, effort: 0)), (.gif, .gif(effort: 1)),
        (.avif, .avif(quality: 50, effort: 0, chroma: .quarter)),
    ]

    /// Everything that this host lacks, in a fixed order; empty on a complete one.
    package static func lacks() -> [HostLack] {
        var (files, lacks) = (samples, [HostLack]())
        let pixels = [UInt8](repeating: 0, count: 16 * 16 * 3)
        for (format, saver) in savers {
            let black = VipsPicture(bytes: pixels, size: PixelSize(16, 16), bands: 3, space: VIPS_INTERPRETATION_sRGB)
            if let file = black?.encoded(by: saver) {
                if let format = PictureFormat(rawValue: format.rawValue) { files[format] = file }
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
        file.withUnsafeBytes { bytes in
            guard let picture = VipsPicture(opening: bytes, as: format, LoadOptions()) else { return false }
            return picture.materialized() != nil
        }
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
