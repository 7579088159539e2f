import CameoModel
import TestSupport

extension MatrixCases {
    private static func file(
        _ scene: Scene,
        _ options: String = "",
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        Fixture("tif", "tiffsave \(options)", of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    static let tiff: [MatrixCase] = [
        MatrixCase("TIFF, RGB", file(scene()), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase("TIFF, RGB, as AVIF, GIF", file(scene()), .inside(.avif), .inside(.gif)),
        MatrixCase("TIFF, RGB, unnamed formats", file(scene()), .inside(.auto), .small(.source)),
        MatrixCase("TIFF, LZW", file(scene(), "--compression lzw"), .inside(.png)),
        MatrixCase("TIFF, deflate", file(scene(), "--compression deflate"), .inside(.jpeg)),
        MatrixCase("TIFF, packbits", file(scene(), "--compression packbits"), .cover(.png)),
        MatrixCase("TIFF, JPEG inside", file(scene(), "--compression jpeg --Q 90"), .inside(.png), .inside(.webp)),
        MatrixCase("TIFF, tiled", file(scene(), "--tile --tile-width 64 --tile-height 64"), .inside(.png)),
        MatrixCase(
            "TIFF, tiled pyramid",
            file(scene(), "--tile --pyramid --subifd --tile-width 64 --tile-height 64"),
            .small(.png)
        ),
        MatrixCase("TIFF, BigTIFF", file(scene(), "--bigtiff"), .inside(.png)),
        MatrixCase("TIFF, 16 bit", file(scene(.none, .sixteen)), .inside(.png), .cover(.jpeg), knowsTruth: true),
        MatrixCase("TIFF, 16 bit, LZW", file(scene(.none, .sixteen), "--compression lzw"), .contain(.webp, on: blue)),
        MatrixCase(
            "TIFF, float, linear light",
            file(scene(.none, .float)),
            .inside(.png),
            .inside(.jpeg),
            knowsTruth: true
        ),
        MatrixCase("TIFF, grey", file(scene(.none, .eight, .grey)), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase("TIFF, grey, 16 bit", file(scene(.none, .sixteen, .grey)), .inside(.png), knowsTruth: true),
        MatrixCase(
            "TIFF, grey, gamma 1.8",
            file(scene(.none, .eight, .greyGamma(1.8)), hasProfile: true),
            .inside(.png),
            knowsTruth: true
        ),
        MatrixCase("TIFF, grey with alpha", file(scene(.soft, .eight, .grey)), .inside(.png), .inside(.webp)),
        MatrixCase("TIFF, RGBA", file(scene(.soft)), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase(
            "TIFF, RGBA, deflate, as JPEG",
            file(scene(.soft), "--compression deflate"),
            .inside(.jpeg),
            .inside(.png, on: blue)
        ),
        MatrixCase("TIFF, RGBA, 16 bit", file(scene(.soft, .sixteen)), .inside(.png), .cover(.avif), knowsTruth: true),
        MatrixCase("TIFF, disc", file(disc()), .inside(.png), .cover(.webp)),
        MatrixCase("TIFF, disc, 16 bit", file(disc(.soft, .sixteen)), .inside(.png)),
        MatrixCase(
            "TIFF, CMYK with a profile",
            file(scene(.none, .eight, .cmyk), hasProfile: true),
            .inside(.png),
            .cover(.webp)
        ),
        MatrixCase("TIFF, CMYK without", file(scene(.none, .eight, .cmyk), "--profile none"), .inside(.png)),
        MatrixCase(
            "TIFF, Display P3",
            file(scene(.none, .eight, .displayP3), hasProfile: true),
            .inside(.png),
            knowsTruth: true
        ),
        MatrixCase(
            "TIFF, Adobe RGB, 16 bit",
            file(scene(.none, .sixteen, .adobeRGB), hasProfile: true),
            .cover(.png),
            knowsTruth: true
        ),
        MatrixCase(
            "TIFF, ProPhoto, 16 bit",
            file(scene(.none, .sixteen, .proPhoto), hasProfile: true),
            .inside(.png),
            knowsTruth: true
        ),
        MatrixCase("TIFF, several pages", file(scene(frames: 3), "--page-height 160"), .inside(.png), .cover(.jpeg)),
        MatrixCase("TIFF, orientation 2", file(scene(), orientation: 2), .inside(.png)),
        MatrixCase("TIFF, orientation 4", file(scene(), orientation: 4), .inside(.png)),
        MatrixCase("TIFF, orientation 5", file(scene(), orientation: 5), .inside(.png)),
        MatrixCase("TIFF, orientation 6", file(scene(), orientation: 6), .inside(.png), .cover(.webp)),
        MatrixCase("TIFF, orientation 7, 16 bit", file(scene(.none, .sixteen), orientation: 7), .inside(.png)),
        MatrixCase("TIFF, orientation 8, RGBA", file(scene(.soft), orientation: 8), .fill(.png)),
    ]
}
