import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// The proof table: every format, depth, profile, orientation and kind of transparency, looked at pixel by pixel.
@Suite(.timeLimit(.minutes(10)))
struct MatrixTests {
    @Test func tableIsLongEnough() {
        #expect(MatrixCases.all.count >= 150)
        #expect(Set(MatrixCases.all.map(\.testDescription)).count == MatrixCases.all.count)
    }

    /// What is looked for in thumbnails would be found.
    @Test(arguments: [MatrixCases.jpeg, MatrixCases.png, MatrixCases.webp, MatrixCases.tiff, MatrixCases.heif])
    func fixturesCarryWhatThumbnailsMustNot(_ cases: [MatrixCase]) async throws {
        let item = try #require(cases.first { $0.fixture.hasProfile && $0.fixture.scene.space != .cmyk })
        let bytes = try Data(contentsOf: URL(filePath: await item.fixture.file()))
        #expect(bytes.firstRange(of: Data(Fixture.secret.utf8)) != nil)
        let leftovers = try await MatrixSpecimen(bytes, ending: item.fixture.ending).leftovers
        #expect(leftovers.contains("icc-profile-data") && leftovers.contains("xmp-data"), "\(leftovers)")
        #expect(leftovers.contains { $0.hasPrefix("exif") || $0 == "image-description" }, "\(leftovers)")
    }

    @Test(arguments: [MatrixCases.gif, MatrixCases.drawings])
    func fixturesCarryComments(_ cases: [MatrixCase]) async throws {
        let item = try #require(cases.first)
        let bytes = try Data(contentsOf: URL(filePath: await item.fixture.file()))
        #expect(bytes.firstRange(of: Data(Fixture.secret.utf8)) != nil)
    }

    @Test(arguments: TestLength.few(MatrixCases.all, 3, whole: 16))
    func thumbnailIsWhatTheSlowPathMakes(_ item: MatrixCase) async throws {
        let path = try await item.fixture.file()
        let renditions = item.outputs.enumerated().map { $1.rendition(named: "\($0)") }
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        #expect(picture.source.format == item.format)
        #expect(picture.source.edges == [Scene.width, Scene.height])
        // The frames of an animation are stored with holes where nothing changed.
        #expect(picture.source.hasAlpha == item.hasAlpha || item.fixture.scene.frames > 1)
        #expect(picture.source.pages == item.fixture.scene.frames)
        #expect(!picture.isTruncated)
        for (output, made) in zip(item.outputs, picture.renditions) {
            let specimen = try await MatrixSpecimen(made)
            try checkForm(of: made, specimen, item, output)
            try await checkColors(of: specimen, item, output)
            checkCorners(of: specimen, item, output)
            checkEdges(of: specimen, item, output)
        }
    }

    /// Size, format, frames, and what must not be in the file.
    private func checkForm(
        of made: EncodedRendition,
        _ specimen: MatrixSpecimen,
        _ item: MatrixCase,
        _ output: MatrixOutput
    ) throws {
        #expect(made.edges == output.edges, "\(output)")
        try #require(specimen.frames.allSatisfy { [$0.width, $0.height] == output.edges }, "\(output)")
        let format = item.writes(output)
        #expect(made.format == format)
        #expect(PictureFormat(sniffing: made.bytes)?.rawValue == format.rawValue)
        #expect(made.hasAlpha == (item.hasAlpha && format != .jpeg && output.background?.alpha != 255), "\(output)")
        #expect(made.bytes.firstRange(of: Data(Fixture.secret.utf8)) == nil, "\(output)")
        #expect(specimen.leftovers == [], "\(output)")
        let frames = output.isAnimated ? item.fixture.scene.frames : 1
        #expect(made.frames == frames)
        guard frames > 1 else { return }
        #expect(specimen.fields["delay"]?.split(separator: " ").compactMap { Int($0) } == Fixture.delays)
        #expect(specimen.fields["loop"] == "\(Fixture.loop)")
    }

    private func checkColors(
        of specimen: MatrixSpecimen,
        _ item: MatrixCase,
        _ output: MatrixOutput
    ) async throws {
        let tolerance = Tolerance(item, output)
        let (width, height) = output.resized
        for (frame, pixels) in specimen.frames.enumerated() {
            for fixture in item.knowsTruth ? [item.fixture, item.fixture.truth] : [item.fixture] {
                let reference = try await ReferencePath.shared.picture(
                    of: fixture,
                    frame: frame,
                    width: width,
                    height: height
                )
                let expected = output.composed(reference, hasAlpha: item.writes(output) != .jpeg)
                let difference = try Difference(pixels, expected)
                #expect(difference.mean < tolerance.mean, "\(output), frame \(frame): \(difference)")
                #expect(difference.percentile95 < tolerance.percentile95, "\(output), frame \(frame): \(difference)")
                #expect(difference.alpha < tolerance.alpha, "\(output), frame \(frame): \(difference)")
            }
        }
    }

    /// Every corner of the scene is where it belongs.
    private func checkCorners(of specimen: MatrixSpecimen, _ item: MatrixCase, _ output: MatrixOutput) {
        guard item.fixture.scene.subject == .waves else { return }
        let grey = SceneSpace.grey.encoder()
        let colors = Scene.cornerColors.map { color in
            let numbers = item.fixture.scene.space.isGrey ? grey(color) : color
            return Lab((0..<3).map { numbers[min($0, numbers.count - 1)] * 255 })
        }
        for pixels in specimen.frames {
            for (index, point) in output.cornerPoints.enumerated() {
                let seen = Lab(pixels.pixel(point.x, point.y).color)
                let distances = colors.map { Lab.difference($0, seen) }
                #expect(distances.indices.min { distances[$0] < distances[$1] } == index, "\(output): \(distances)")
                #expect(distances[index] < Tolerance(item, output).corner, "\(output), corner \(index)")
            }
        }
    }

    /// A white disc on transparent black is white up to its edge.
    private func checkEdges(of specimen: MatrixSpecimen, _ item: MatrixCase, _ output: MatrixOutput) {
        let isCut = item.writes(output) == .jpeg || output.background != nil
        guard item.fixture.scene.subject == .disc, !isCut else { return }
        let limit = 255 - Tolerance(item, output).fringe
        var edges = 0
        var darkest = 255.0
        for pixels in specimen.frames {
            for y in 0..<pixels.height {
                for x in 0..<pixels.width {
                    let (color, alpha) = pixels.pixel(x, y)
                    guard alpha > 24 else { continue }
                    if alpha < 248 { edges += 1 }
                    darkest = color.reduce(darkest, min)
                }
            }
        }
        #expect(darkest >= limit, "\(output)")
        #expect(edges > 0 || item.writes(output) == .gif, "\(output)")
    }
}
