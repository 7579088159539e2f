import CameoModel
import TestSupport
import Testing

/// A line of the proof table: a fixture, and what is made of it.
struct MatrixCase: Sendable, CustomTestStringConvertible {
    let title: String
    let fixture: Fixture
    let outputs: [MatrixOutput]
    /// Whether colours are compared with the scene's own too, not only with what libvips' commands make of the file.
    let knowsTruth: Bool

    init(_ title: String, _ fixture: Fixture, _ outputs: MatrixOutput..., knowsTruth: Bool = false) {
        self.title = title
        self.fixture = fixture
        self.outputs = outputs
        self.knowsTruth = knowsTruth
    }

    var testDescription: String { "\(title) → \(outputs.map(\.description).joined(separator: ", "))" }

    var format: PictureFormat {
        switch fixture.ending {
        case "jpg": .jpeg
        case "tif": .tiff
        case "heic": .heif
        default: PictureFormat(rawValue: fixture.ending) ?? .jpeg
        }
    }

    var hasAlpha: Bool { fixture.scene.transparency != .none }

    /// The format of the thumbnail.
    func writes(_ output: MatrixOutput) -> Rendition.Format { output.format.written(for: format) }
}
