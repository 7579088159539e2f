import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Animations: one frame unless all are requested; then each goes through the same steps and keeps its delay.
@Suite(.timeLimit(.minutes(10)))
struct AnimationTests {
    private func animated(_ width: Int, _ format: Rendition.Format, fit: Rendition.Fit = .inside) -> Rendition {
        var rendition = Rendition(width: width, height: width, fit: fit, format: format)
        rendition.encoding.animated = true
        return rendition
    }

    @Test(arguments: ["gif", "webp"], [Rendition.Format.auto, .webp, .gif, .source])
    func keepsFramesTimesAndLoop(_ ending: String, format: Rendition.Format) async throws {
        let path = try await Pictures.timedAnimation(ending)
        let made = try await rendered(animated(40, format), of: path)
        #expect(made.frames == 3)
        #expect(made.edges == [40, 30])
        let specimen = try await Specimen(made)
        #expect(specimen.header["n-pages"] == "3")
        #expect(specimen.header["delay"] == "50 120 300 ")
        // Shown once, then twice more.
        #expect(specimen.header["loop"] == "3")
    }

    @Test(arguments: ["gif", "webp"])
    func firstFrameIsTheDefault(_ ending: String) async throws {
        let path = try await Pictures.timedAnimation(ending)
        let picture = try await render(Rendition(width: 40, format: .png), of: path)
        #expect(picture.source.pages == 3)
        #expect(picture.source.isAnimated)
        #expect(picture.renditions[0].frames == 1)
        #expect(
            try await Specimen(picture.renditions[0]).pixel(20, 15).prefix(3).map { $0 > 127 } == [true, false, false]
        )
    }

    @Test func anyFrameCanBeTheOne() async throws {
        var rendition = Rendition(width: 40, format: .png)
        rendition.page = 2
        let specimen = try await Specimen(rendered(rendition, of: Pictures.timedAnimation("gif")))
        #expect(try await specimen.pixel(20, 15).prefix(3).map { $0 > 127 } == [false, false, true])
    }

    /// Red, green and blue frames: bleeding between them would show at the edges.
    @Test(arguments: [Rendition.Fit.inside, .cover, .contain, .fill])
    func framesDoNotBleedIntoOneAnother(_ fit: Rendition.Fit) async throws {
        let made = try await rendered(animated(37, .gif, fit: fit), of: Pictures.timedAnimation("gif"))
        let specimen = try await Specimen(made)
        for (frame, color) in [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]].enumerated() {
            let still = try await specimen.beside("\(frame).png") {
                try await Pictures.vips("gifload", specimen.path, $0, "--page", "\(frame)")
            }
            let middle = made.width / 2
            // The padding of contain above and below is transparent.
            let rows = fit == .contain ? [made.height / 2] : [0, made.height / 2, made.height - 1]
            for row in rows {
                let pixel = try await Pictures.vips("getpoint", still, "\(middle)", "\(row)")
                    .split(separator: " ").compactMap { Double($0) }
                for (band, wanted) in zip(pixel, color) { #expect(abs(band - wanted * 255) <= 12, "\(frame) \(row)") }
            }
        }
    }

    @Test func everyFrameIsCutAtTheSamePlace() async throws {
        var rendition = animated(20, .gif, fit: .cover)
        rendition.gravity = .attention
        rendition.rotate = .quarter
        let made = try await rendered(rendition, of: Pictures.timedAnimation("gif"))
        #expect(made.edges == [20, 20])
        #expect(made.frames == 3)
    }

    @Test func stillAndAnimatedRenditionsOfOneJob() async throws {
        let path = try await Pictures.timedAnimation("gif")
        let renditions = [Rendition(width: 20, format: .jpeg), animated(30, .webp), Rendition(width: 10, format: .png)]
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        #expect(picture.renditions.map(\.frames) == [1, 3, 1])
        #expect(picture.renditions.map(\.width) == [20, 30, 10])
    }

    @Test func stillSourceStaysStill() async throws {
        let made = try await rendered(animated(64, .webp), of: Pictures.photo("jpg"))
        #expect(made.frames == 1)
        let formatless = try await rendered(animated(64, .source), of: Pictures.photo("jpg"))
        #expect(formatless.format == .jpeg)
    }

    /// Frames and their pixels in total, those of an enlargement too, are counted before they are decoded.
    @Test(arguments: [
        ("gif", 2, Int.max, 40, JobFailure.Code.imageTooManyFrames, "more frames than the limit of 2"),
        ("gif", 9, 400 * 300 * 3 - 1, 400, .imageTooManyPixels, "360000 pixels in total"),
        ("webp", 9, 80 * 60 * 3 - 1, 40, .imageTooManyPixels, "14400 pixels in total"),
    ])
    func anAnimationOverALimitIsRefused(
        _ ending: String,
        frames: Int,
        pixels: Int,
        width: Int,
        code: JobFailure.Code,
        words: String
    ) async throws {
        var configuration = Renderers.configuration(processes: 1)
        (configuration.limits.frames, configuration.limits.animatedPixels) = (frames, pixels)
        let path = try await Pictures.timedAnimation(ending)
        try await Renderers.withPool(configuration) { pool in
            var rendition = animated(width, .webp)
            rendition.withoutEnlargement = width <= 80
            let failure = await failure { try await pool.render(rendition, of: path) }
            #expect(failure?.code == code)
            #expect(failure?.message.contains(words) == true)
            // A single frame is no animation.
            let still = try await pool.render(Rendition(width: 40), of: path)
            #expect(still.renditions[0].frames == 1)
        }
    }
}
