import CameoModel
import TestSupport

extension MatrixCases {
    private static func file(
        _ options: String = "--Q 90",
        _ space: SceneSpace = .srgb,
        orientation: Int = 1,
        hasProfile: Bool = false
    ) -> Fixture {
        let scene = scene(.none, .eight, space)
        return Fixture("jpg", "jpegsave \(options)", of: scene, orientation: orientation, hasProfile: hasProfile)
    }

    static let jpeg: [MatrixCase] = [
        MatrixCase("JPEG, baseline 4:2:0", file(), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, baseline 4:2:0, as JPEG", file(), .inside(.jpeg), .contain(.jpeg, on: blue)),
        MatrixCase("JPEG, baseline 4:2:0, as AVIF and GIF", file(), .inside(.avif), .fill(.gif)),
        MatrixCase("JPEG, baseline 4:2:0, unnamed formats", file(), .inside(.auto), .cover(.source)),
        MatrixCase("JPEG, baseline 4:2:0, shrunk by its decoder", file(), .small(.png)),
        MatrixCase("JPEG, baseline 4:4:4", file("--Q 95 --subsample-mode off"), .inside(.png), .fill(.png)),
        MatrixCase("JPEG, baseline 4:4:4, shrunk", file("--Q 95 --subsample-mode off"), .small(.jpeg)),
        MatrixCase("JPEG, restart markers", file("--Q 90 --restart-interval 4"), .inside(.png)),
        MatrixCase("JPEG, optimized tables", file("--Q 90 --optimize-coding"), .cover(.png)),
        MatrixCase("JPEG, progressive", file("--Q 90 --interlace"), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, progressive, shrunk", file("--Q 90 --interlace"), .small(.png)),
        MatrixCase(
            "JPEG, progressive 4:4:4",
            file("--Q 95 --interlace --subsample-mode off"),
            .contain(.png, on: blue)
        ),
        MatrixCase("JPEG, low quality", file("--Q 30"), .inside(.png), .inside(.source)),
        MatrixCase("JPEG, sRGB profile", file(hasProfile: true), .inside(.png), .cover(.jpeg), knowsTruth: true),
        MatrixCase("JPEG, Display P3", file("--Q 95", .displayP3, hasProfile: true), .inside(.png), knowsTruth: true),
        MatrixCase("JPEG, Display P3, as WebP", file("--Q 95", .displayP3, hasProfile: true), .cover(.webp)),
        MatrixCase("JPEG, Display P3, shrunk", file("--Q 95", .displayP3, hasProfile: true), .small(.png)),
        MatrixCase("JPEG, Display P3, profile lost", file("--Q 95", .displayP3), .inside(.png)),
        MatrixCase("JPEG, Adobe RGB", file("--Q 95", .adobeRGB, hasProfile: true), .inside(.png), knowsTruth: true),
        MatrixCase("JPEG, Adobe RGB, as AVIF", file("--Q 95", .adobeRGB, hasProfile: true), .inside(.avif)),
        MatrixCase("JPEG, ProPhoto", file("--Q 98", .proPhoto, hasProfile: true), .inside(.png), knowsTruth: true),
        MatrixCase("JPEG, ProPhoto, as JPEG", file("--Q 98", .proPhoto, hasProfile: true), .cover(.jpeg)),
        MatrixCase("JPEG, grey", file("--Q 90", .grey), .inside(.png), .cover(.jpeg), knowsTruth: true),
        MatrixCase("JPEG, grey, as WebP, AVIF", file("--Q 90", .grey), .inside(.webp), .cover(.avif)),
        MatrixCase(
            "JPEG, grey, on a colour",
            file("--Q 90", .grey),
            .contain(.png, on: blue),
            .contain(.jpeg, on: blue)
        ),
        MatrixCase("JPEG, grey, progressive, shrunk", file("--Q 90 --interlace", .grey), .small(.png)),
        MatrixCase(
            "JPEG, grey, gamma 1.8",
            file("--Q 95", .greyGamma(1.8), hasProfile: true),
            .inside(.png),
            .cover(.webp),
            knowsTruth: true
        ),
        MatrixCase("JPEG, grey, gamma 2.2", file("--Q 95", .greyGamma(2.2), hasProfile: true), .inside(.jpeg)),
        MatrixCase("JPEG, CMYK with a profile", file("--Q 95 --profile cmyk", .cmyk, hasProfile: true), .inside(.png)),
        MatrixCase(
            "JPEG, CMYK with a profile, as others",
            file("--Q 95 --profile cmyk", .cmyk, hasProfile: true),
            .cover(.webp),
            .inside(.source)
        ),
        MatrixCase("JPEG, CMYK with a profile, shrunk", file("--Q 95", .cmyk, hasProfile: true), .small(.png)),
        MatrixCase(
            "JPEG, CMYK with a profile, on its side",
            file("--Q 95", .cmyk, orientation: 6, hasProfile: true),
            .inside(.png)
        ),
        MatrixCase("JPEG, CMYK without", file("--Q 95 --profile none", .cmyk), .inside(.png), .cover(.jpeg)),
        MatrixCase("JPEG, CMYK without, progressive", file("--Q 95 --interlace --profile none", .cmyk), .small(.avif)),
        MatrixCase("JPEG, orientation 1", file(orientation: 1, hasProfile: true), .inside(.webp)),
        MatrixCase("JPEG, orientation 2", file(orientation: 2), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 3", file(orientation: 3), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 4", file(orientation: 4), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 5", file(orientation: 5), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 6", file(orientation: 6), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 7", file(orientation: 7), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 8", file(orientation: 8), .inside(.png), .cover(.webp)),
        MatrixCase("JPEG, orientation 6, shrunk", file(orientation: 6), .small(.jpeg)),
        MatrixCase(
            "JPEG, orientation 8, progressive, shrunk",
            file("--Q 90 --interlace", orientation: 8),
            .small(.png)
        ),
        MatrixCase(
            "JPEG, orientation 5, padded and distorted",
            file(orientation: 5),
            .contain(.png, on: blue),
            .fill(.png)
        ),
        MatrixCase(
            "JPEG, orientation 7, Display P3",
            file("--Q 95", .displayP3, orientation: 7, hasProfile: true),
            .cover(.png)
        ),
        MatrixCase("JPEG, orientation 3, grey", file("--Q 90", .grey, orientation: 3), .inside(.png)),
    ]
}
