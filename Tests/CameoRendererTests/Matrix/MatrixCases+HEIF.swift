import CameoModel
import TestSupport

extension MatrixCases {
    private static func heic(
        _ scene: Scene = scene(),
        bits: Int = 8,
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        let saver = "heifsave --compression hevc --Q 90 --effort 0 --bitdepth \(bits)"
        return Fixture("heic", saver, of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    /// 8 or 12 bits: with 10, libvips 8.14 and libaom 3.6 write no readable file.
    private static func avif(
        _ scene: Scene = scene(),
        bits: Int = 8,
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        let saver = "heifsave --compression av1 --Q 89 --effort 0 --bitdepth \(bits)"
        return Fixture("avif", saver, of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    static let heif: [MatrixCase] = [
        MatrixCase("HEIC", heic(), .inside(.png), .cover(.webp)),
        MatrixCase("HEIC, as JPEG", heic(), .inside(.jpeg), .small(.jpeg)),
        MatrixCase("HEIC, unnamed formats", heic(), .inside(.auto), .inside(.source)),
        MatrixCase("HEIC, turned as orientation 3", heic(orientation: 3), .inside(.png)),
        MatrixCase("HEIC, turned as orientation 6", heic(orientation: 6), .inside(.png), .cover(.webp)),
        MatrixCase("HEIC, turned as orientation 8", heic(orientation: 8), .inside(.png)),
        MatrixCase("HEIC, Display P3", heic(scene(.none, .eight, .displayP3), hasProfile: true), .inside(.png)),
        MatrixCase("HEIC, alpha", heic(scene(.soft)), .inside(.png), .inside(.jpeg)),
        MatrixCase("HEIC, 10 bit", heic(scene(.none, .sixteen), bits: 10), .inside(.png), .cover(.webp)),
        MatrixCase(
            "HEIC, 12 bit, Display P3",
            heic(scene(.none, .sixteen, .displayP3), bits: 12, hasProfile: true),
            .inside(.png)
        ),
        MatrixCase("AVIF, 8 bit", avif(), .inside(.png), .cover(.webp)),
        MatrixCase("AVIF, 8 bit, as JPEG, itself", avif(), .inside(.jpeg), .inside(.source)),
        MatrixCase("AVIF, 8 bit, as GIF, small", avif(), .inside(.gif), .small(.png)),
        MatrixCase("AVIF, 12 bit", avif(scene(.none, .sixteen), bits: 12), .inside(.png), .inside(.avif)),
        MatrixCase("AVIF, 12 bit with alpha", avif(scene(.soft, .sixteen), bits: 12), .inside(.png)),
        MatrixCase(
            "AVIF, 12 bit, Display P3",
            avif(scene(.none, .sixteen, .displayP3), bits: 12, hasProfile: true),
            .inside(.png)
        ),
        MatrixCase("AVIF, alpha", avif(scene(.soft)), .inside(.png), .cover(.webp)),
        MatrixCase("AVIF, alpha, on a colour", avif(scene(.soft)), .inside(.jpeg), .contain(.png, on: blue)),
        MatrixCase("AVIF, disc", avif(disc()), .inside(.png)),
        MatrixCase("AVIF, Display P3", avif(scene(.none, .eight, .displayP3), hasProfile: true), .inside(.png)),
        MatrixCase("AVIF, Adobe RGB", avif(scene(.none, .eight, .adobeRGB), hasProfile: true), .inside(.jpeg)),
        MatrixCase("AVIF, turned as orientation 3", avif(orientation: 3), .cover(.png)),
        MatrixCase("AVIF, turned as orientation 6", avif(orientation: 6), .inside(.png)),
        MatrixCase("AVIF, turned as orientation 8", avif(orientation: 8), .contain(.png, on: blue)),
    ]

    private static func svg(_ scene: Scene) -> Fixture { Fixture("svg", "none", of: scene) }

    /// An SVG has alpha whatever it shows.
    static let drawings: [MatrixCase] = [
        MatrixCase("SVG", svg(scene(.hard)), .inside(.png), .cover(.png), .small(.png)),
        MatrixCase("SVG, as JPEG, WebP", svg(scene(.hard)), .inside(.jpeg), .inside(.webp)),
        MatrixCase("SVG, unnamed formats", svg(scene(.hard)), .inside(.auto), .inside(.source)),
        MatrixCase("SVG, on a colour", svg(scene(.hard)), .contain(.png, on: blue), .inside(.jpeg, on: blue)),
        MatrixCase("SVG, as AVIF, GIF", svg(scene(.hard)), .inside(.avif), .fill(.gif)),
        MatrixCase("SVG, disc", svg(disc()), .inside(.png), .cover(.webp), .small(.png)),
    ]
}
