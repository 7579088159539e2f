import CameoModel
import CameoRenderer
import CameoSystem
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct OrientationTests {
    static let red = [255.0, 0, 0]
    static let green = [0.0, 255, 0]
    static let blue = [0.0, 0, 255]
    static let white = [255.0, 255, 255]

    private func expect(_ specimen: Specimen, _ x: Int, _ y: Int, _ color: [Double]) async throws {
        let pixel = try await specimen.pixel(x, y)
        #expect(zip(pixel, color).allSatisfy { abs($0 - $1) < 12 }, "\(pixel) at \(x), \(y) should be \(color)")
    }

    @Test(arguments: TestLength.few(1...8))
    func everyOrientationIsUpright(_ orientation: Int) async throws {
        let path = try await Pictures.corners(orientation: orientation)
        let picture = try await render(Rendition(width: 30, format: .png), of: path)
        #expect(picture.source.edges == [60, 40])
        let specimen = try await Specimen(picture.renditions[0])
        #expect(specimen.edges == [30, 20])
        try await expect(specimen, 4, 4, Self.red)
        try await expect(specimen, 25, 4, Self.green)
        try await expect(specimen, 4, 15, Self.blue)
        try await expect(specimen, 25, 15, Self.white)
    }

    @Test(arguments: TestLength.few(1...8, 3, whole: 4))
    func boxesAndGravityAreInUprightPixels(_ orientation: Int) async throws {
        let path = try await Pictures.corners(orientation: orientation)
        let renditions = [
            Rendition(width: 10, height: 20, fit: .cover, gravity: .northwest, format: .png),
            Rendition(width: 10, height: 20, fit: .cover, gravity: .southeast, format: .png),
            Rendition(width: 24, height: 10, fit: .fill, format: .png),
        ]
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        try #require(picture.renditions.map(\.width) == [10, 10, 24])
        #expect(picture.renditions.map(\.height) == [20, 20, 10])
        try await expect(try await Specimen(picture.renditions[0]), 2, 2, Self.red)
        try await expect(try await Specimen(picture.renditions[0]), 2, 17, Self.blue)
        try await expect(try await Specimen(picture.renditions[1]), 7, 2, Self.green)
        try await expect(try await Specimen(picture.renditions[1]), 7, 17, Self.white)
        try await expect(try await Specimen(picture.renditions[2]), 2, 1, Self.red)
        try await expect(try await Specimen(picture.renditions[2]), 21, 8, Self.white)
    }
}
