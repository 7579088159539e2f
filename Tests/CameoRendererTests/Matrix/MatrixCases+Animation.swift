import CameoModel
import TestSupport

extension MatrixCases {
    private static func gifFile(_ scene: Scene, _ options: String = "") -> Fixture {
        Fixture("gif", "gifsave \(options)", of: scene)
    }

    private static func webpFile(
        _ scene: Scene,
        _ options: String = "--Q 90",
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        Fixture("webp", "webpsave \(options)", of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    private static let moving = scene(frames: 3)
    private static let movingHole = scene(.hard, frames: 3)

    static let gif: [MatrixCase] = [
        MatrixCase("GIF, still", gifFile(scene()), .inside(.png), .cover(.webp)),
        MatrixCase("GIF, still, as JPEG, AVIF", gifFile(scene()), .inside(.jpeg), .inside(.avif)),
        MatrixCase("GIF, still, unnamed formats", gifFile(scene()), .inside(.auto), .inside(.source)),
        MatrixCase("GIF, still, small", gifFile(scene()), .small(.png), .contain(.png, on: blue)),
        MatrixCase("GIF, still, interlaced", gifFile(scene(), "--interlace"), .inside(.png)),
        MatrixCase("GIF, still, 16 colours", gifFile(scene(), "--bitdepth 4"), .inside(.png)),
        MatrixCase("GIF, transparent", gifFile(scene(.hard)), .inside(.png), .cover(.webp)),
        MatrixCase("GIF, transparent, as GIF", gifFile(scene(.hard)), .inside(.source), .fill(.gif)),
        MatrixCase("GIF, transparent, as JPEG", gifFile(scene(.hard)), .inside(.jpeg), .contain(.jpeg, on: blue)),
        MatrixCase("GIF, disc", gifFile(disc(.hard)), .inside(.png), .cover(.webp), .small(.avif)),
        MatrixCase("GIF, disc, as GIF", gifFile(disc(.hard)), .inside(.gif)),
        MatrixCase("GIF, animated, as GIF", gifFile(moving), .animated(.gif), .animated(.source, .cover)),
        MatrixCase("GIF, animated, as WebP", gifFile(moving), .animated(.webp), .animated(.auto, .fill)),
        MatrixCase("GIF, animated, first frame", gifFile(moving), .inside(.png), .cover(.jpeg)),
        MatrixCase("GIF, animated, both", gifFile(moving), .animated(.webp, .small), .inside(.avif)),
        MatrixCase("GIF, animated, transparent, as GIF", gifFile(movingHole), .animated(.gif)),
        MatrixCase("GIF, animated, transparent, as WebP", gifFile(movingHole), .animated(.webp), .inside(.png)),
        MatrixCase("GIF, animated, grey", gifFile(scene(.none, .eight, .grey, frames: 3)), .animated(.webp)),
    ]

    static let webp: [MatrixCase] = [
        MatrixCase("WebP, lossy", webpFile(scene()), .inside(.png), .cover(.webp)),
        MatrixCase("WebP, lossy, as JPEG, AVIF", webpFile(scene()), .inside(.jpeg), .inside(.avif)),
        MatrixCase("WebP, lossy, as GIF, itself", webpFile(scene()), .inside(.gif), .inside(.source)),
        MatrixCase("WebP, lossy, small", webpFile(scene()), .small(.png), .fill(.png)),
        MatrixCase("WebP, lossless", webpFile(scene(), "--lossless"), .inside(.png), .cover(.webp)),
        MatrixCase("WebP, lossless, small", webpFile(scene(), "--lossless"), .small(.png), .contain(.png, on: blue)),
        MatrixCase("WebP, near lossless", webpFile(scene(), "--near-lossless --Q 60"), .inside(.png)),
        MatrixCase("WebP, lossy with alpha", webpFile(scene(.soft)), .inside(.png), .cover(.webp)),
        MatrixCase("WebP, lossy with alpha, as JPEG", webpFile(scene(.soft)), .inside(.jpeg), .inside(.png, on: blue)),
        MatrixCase("WebP, lossless with alpha", webpFile(scene(.soft), "--lossless"), .inside(.png), .inside(.avif)),
        MatrixCase("WebP, lossless with alpha, small", webpFile(scene(.soft), "--lossless"), .small(.png)),
        MatrixCase("WebP, disc, lossy", webpFile(disc()), .inside(.png), .small(.png)),
        MatrixCase("WebP, disc, lossless", webpFile(disc(), "--lossless"), .inside(.png), .small(.png), .cover(.webp)),
        MatrixCase(
            "WebP, Display P3",
            webpFile(scene(.none, .eight, .displayP3), "--lossless", hasProfile: true),
            .inside(.png)
        ),
        MatrixCase(
            "WebP, Adobe RGB, lossy",
            webpFile(scene(.none, .eight, .adobeRGB), hasProfile: true),
            .inside(.jpeg)
        ),
        MatrixCase("WebP, orientation 2", webpFile(scene(), orientation: 2), .inside(.png)),
        MatrixCase("WebP, orientation 3", webpFile(scene(), orientation: 3), .inside(.png)),
        MatrixCase("WebP, orientation 5", webpFile(scene(), orientation: 5), .inside(.png)),
        MatrixCase("WebP, orientation 6", webpFile(scene(), orientation: 6), .inside(.png), .cover(.webp)),
        MatrixCase("WebP, orientation 8", webpFile(scene(), "--lossless", orientation: 8), .small(.png)),
        MatrixCase(
            "WebP, animated, lossless, as WebP",
            webpFile(moving, "--lossless"),
            .animated(.webp),
            .animated(.auto, .cover)
        ),
        MatrixCase("WebP, animated, lossy, as WebP", webpFile(moving), .animated(.source, .small), .inside(.png)),
        MatrixCase("WebP, animated, as GIF", webpFile(moving), .animated(.gif), .animated(.gif, .fill)),
        MatrixCase("WebP, animated, transparent", webpFile(movingHole, "--lossless"), .animated(.webp), .inside(.png)),
        MatrixCase("WebP, animated, transparent, as GIF", webpFile(movingHole, "--lossless"), .animated(.gif)),
    ]
}
