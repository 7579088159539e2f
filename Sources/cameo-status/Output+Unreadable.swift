internal import CameoReport
internal import CommandSupport

extension Output {
    static func errors(of thumbnails: [UnreadableThumbnail]) {
        for thumbnail in thumbnails { error("cameo-status: \(TerminalText.escaped(thumbnail.description))") }
    }
}
