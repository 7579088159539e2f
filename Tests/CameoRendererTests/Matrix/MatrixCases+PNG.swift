import CameoModel
import TestSupport

extension MatrixCases {
    private static func file(
        _ scene: Scene,
        _ options: String = "",
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        Fixture("png", "pngsave \(options)", of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    private static func deep(_ space: SceneSpace, _ transparency: Scene.Transparency = .none) -> Fixture {
        file(scene(transparency, .sixteen, space), hasProfile: true)
    }

    static let png: [MatrixCase] = [
        MatrixCase("PNG, RGB", file(scene()), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase("PNG, RGB, as JPEG", file(scene()), .inside(.jpeg), .cover(.jpeg)),
        MatrixCase("PNG, RGB, as AVIF", file(scene()), .inside(.avif), .fill(.avif)),
        MatrixCase("PNG, RGB, as GIF", file(scene()), .inside(.gif)),
        MatrixCase("PNG, RGB, unnamed formats", file(scene()), .inside(.auto), .inside(.source)),
        MatrixCase("PNG, RGB, lossless WebP", file(scene()), .lossless(.webp), .lossless(.webp, .cover)),
        MatrixCase("PNG, RGB, lossless AVIF", file(scene()), .lossless(.avif)),
        MatrixCase(
            "PNG, RGB, every shape",
            file(scene()),
            .small(.png),
            .cover(.png),
            .contain(.png, on: blue),
            .fill(.png)
        ),
        MatrixCase("PNG, RGB, interlaced", file(scene(), "--interlace"), .inside(.png), .cover(.webp)),
        MatrixCase("PNG, RGB, interlaced, 16 bit", file(scene(.none, .sixteen), "--interlace"), .inside(.png)),
        MatrixCase("PNG, palette", file(scene(), "--palette"), .inside(.png), .cover(.webp)),
        MatrixCase(
            "PNG, palette of 16 colours",
            file(scene(), "--palette --bitdepth 4"),
            .inside(.png),
            .inside(.auto)
        ),
        MatrixCase("PNG, palette, interlaced", file(scene(), "--palette --interlace"), .contain(.jpeg, on: blue)),
        MatrixCase("PNG, palette with alpha", file(scene(.soft), "--palette"), .inside(.png), .cover(.webp)),
        MatrixCase("PNG, 16 bit", file(scene(.none, .sixteen)), .inside(.png), .cover(.jpeg), knowsTruth: true),
        MatrixCase("PNG, 16 bit, as AVIF, WebP", file(scene(.none, .sixteen)), .inside(.avif), .inside(.webp)),
        MatrixCase(
            "PNG, 16 bit with alpha",
            file(scene(.soft, .sixteen)),
            .inside(.png),
            .cover(.webp),
            knowsTruth: true
        ),
        MatrixCase("PNG, grey", file(scene(.none, .eight, .grey)), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase("PNG, grey, as JPEG, GIF", file(scene(.none, .eight, .grey)), .inside(.jpeg), .inside(.gif)),
        MatrixCase("PNG, grey, interlaced", file(scene(.none, .eight, .grey), "--interlace"), .inside(.png)),
        MatrixCase(
            "PNG, grey, 16 bit",
            file(scene(.none, .sixteen, .grey)),
            .inside(.png),
            .cover(.jpeg),
            knowsTruth: true
        ),
        MatrixCase(
            "PNG, grey with alpha",
            file(scene(.soft, .eight, .grey)),
            .inside(.png),
            .cover(.webp),
            knowsTruth: true
        ),
        MatrixCase("PNG, grey with alpha, on a colour", file(scene(.soft, .eight, .grey)), .contain(.png, on: blue)),
        MatrixCase("PNG, grey with alpha, as JPEG", file(scene(.soft, .eight, .grey)), .inside(.jpeg)),
        MatrixCase("PNG, grey with alpha, 16 bit", file(scene(.soft, .sixteen, .grey)), .inside(.png), .inside(.avif)),
        MatrixCase(
            "PNG, grey, gamma 1.8",
            file(scene(.none, .eight, .greyGamma(1.8)), hasProfile: true),
            .inside(.png),
            knowsTruth: true
        ),
        MatrixCase("PNG, grey, gamma 1, 16 bit", deep(.greyGamma(1)), .inside(.png), .inside(.webp), knowsTruth: true),
        MatrixCase(
            "PNG, grey with alpha, gamma 1.8",
            file(scene(.soft, .eight, .greyGamma(1.8)), hasProfile: true),
            .inside(.png),
            .inside(.webp)
        ),
        MatrixCase("PNG, RGBA", file(scene(.soft)), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase("PNG, RGBA, as JPEG", file(scene(.soft)), .inside(.jpeg), .inside(.jpeg, on: blue)),
        MatrixCase("PNG, RGBA, as AVIF", file(scene(.soft)), .inside(.avif), .contain(.avif, on: blue)),
        MatrixCase("PNG, RGBA, unnamed formats", file(scene(.soft)), .inside(.auto), .cover(.source)),
        MatrixCase("PNG, RGBA, lossless", file(scene(.soft)), .lossless(.webp), .lossless(.avif)),
        MatrixCase("PNG, RGBA, on a colour", file(scene(.soft)), .inside(.png, on: blue), .contain(.webp, on: blue)),
        MatrixCase("PNG, RGBA, shapes", file(scene(.soft)), .small(.png), .fill(.png)),
        MatrixCase("PNG, RGBA, interlaced", file(scene(.soft), "--interlace"), .inside(.png)),
        MatrixCase("PNG, RGBA with hard edges, as GIF", file(scene(.hard)), .inside(.gif), .inside(.png)),
        MatrixCase(
            "PNG, sRGB profile",
            file(scene(), hasProfile: true),
            .inside(.png),
            .cover(.webp),
            knowsTruth: true
        ),
        MatrixCase(
            "PNG, Display P3",
            file(scene(.none, .eight, .displayP3), hasProfile: true),
            .inside(.png),
            .inside(.avif),
            knowsTruth: true
        ),
        MatrixCase("PNG, Display P3, 16 bit", deep(.displayP3), .inside(.png), .cover(.webp), knowsTruth: true),
        MatrixCase(
            "PNG, Display P3 with alpha",
            file(scene(.soft, .eight, .displayP3), hasProfile: true),
            .inside(.png),
            knowsTruth: true
        ),
        MatrixCase(
            "PNG, Display P3 with alpha, 16 bit",
            deep(.displayP3, .soft),
            .inside(.png),
            .inside(.webp),
            knowsTruth: true
        ),
        MatrixCase(
            "PNG, Adobe RGB",
            file(scene(.none, .eight, .adobeRGB), hasProfile: true),
            .inside(.png),
            .cover(.jpeg),
            knowsTruth: true
        ),
        MatrixCase("PNG, Adobe RGB, 16 bit", deep(.adobeRGB), .inside(.png), knowsTruth: true),
        MatrixCase(
            "PNG, Adobe RGB, interlaced",
            file(scene(.none, .eight, .adobeRGB), "--interlace", hasProfile: true),
            .small(.png)
        ),
        MatrixCase(
            "PNG, ProPhoto, 16 bit",
            deep(.proPhoto),
            .inside(.png),
            .contain(.jpeg, on: blue),
            knowsTruth: true
        ),
        MatrixCase(
            "PNG, ProPhoto with alpha, 16 bit",
            deep(.proPhoto, .soft),
            .inside(.png),
            .cover(.avif),
            knowsTruth: true
        ),
        MatrixCase("PNG, EXIF orientation 2", file(scene(), orientation: 2), .inside(.png)),
        MatrixCase("PNG, EXIF orientation 3", file(scene(), orientation: 3), .inside(.png)),
        MatrixCase("PNG, EXIF orientation 4", file(scene(), orientation: 4), .inside(.png)),
        MatrixCase("PNG, EXIF orientation 5", file(scene(), orientation: 5), .inside(.png)),
        MatrixCase("PNG, EXIF orientation 6", file(scene(), orientation: 6), .inside(.png), .cover(.webp)),
        MatrixCase("PNG, EXIF orientation 7", file(scene(), orientation: 7), .inside(.png)),
        MatrixCase("PNG, EXIF orientation 8", file(scene(.soft), orientation: 8), .inside(.png), .fill(.webp)),
        MatrixCase("PNG, disc", file(disc()), .inside(.png), .cover(.png), .small(.png), .fill(.png)),
        MatrixCase("PNG, disc, as WebP", file(disc()), .inside(.webp), .cover(.auto), .lossless(.webp, .small)),
        MatrixCase("PNG, disc, as AVIF", file(disc()), .inside(.avif), .cover(.avif)),
        MatrixCase("PNG, disc, as GIF", file(disc()), .inside(.gif), .cover(.gif)),
        MatrixCase("PNG, disc, on a colour", file(disc()), .inside(.png, on: blue), .contain(.jpeg, on: blue)),
        MatrixCase("PNG, disc, 16 bit", file(disc(.soft, .sixteen)), .inside(.png), .small(.webp)),
        MatrixCase("PNG, disc, grey with alpha", file(disc(.soft, .eight, .grey)), .inside(.png), .cover(.webp)),
        MatrixCase("PNG, disc, grey with alpha, 16 bit", file(disc(.soft, .sixteen, .grey)), .inside(.png)),
        MatrixCase("PNG, disc, palette", file(disc(), "--palette"), .inside(.png), .fill(.avif)),
        MatrixCase("PNG, disc, hard edges", file(disc(.hard)), .inside(.png), .cover(.webp)),
        MatrixCase("PNG, disc, Display P3", file(disc(.soft, .eight, .displayP3), hasProfile: true), .inside(.png)),
        MatrixCase(
            "PNG, disc, ProPhoto, 16 bit",
            file(disc(.soft, .sixteen, .proPhoto), hasProfile: true),
            .inside(.png)
        ),
    ]
}
