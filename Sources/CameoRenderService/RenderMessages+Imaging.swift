internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages

extension PictureMessage {
    init(_ set: RenderedSet) {
        self.init(
            source: set.facts,
            isTruncated: set.isTruncated,
            renditions: set.renditions.map(Announcement.init)
        )
    }
}

extension RefusalMessage {
    init(_ error: ImagingError) {
        self.init(Reason(error), predicate: error.predicate)
    }
}

extension RefusalMessage.Reason {
    init(_ error: ImagingError) {
        switch error {
        case .unsupportedFormat, .formatNotAllowed, .noDecoder, .unsupportedPixels, .tooManyBands:
            self = .unsupportedFormat
        case .corrupt: self = .corrupt
        case .tooManyPixels, .edgeTooLong, .tooManyAnimatedPixels, .drawingTooLong, .renditionTooLarge:
            self = .tooManyPixels
        case .tooManyFrames: self = .tooManyFrames
        case .noSuchPage: self = .noSuchPage
        case .cropOutside: self = .cropOutside
        case .tooManyBytes: self = .tooManyBytes
        case .outOfMemory: self = .outOfMemory
        case .encodingFailed, .processingFailed, .noFont, .unreadable: self = .failed
        case .overlay(_, let error): self.init(error)
        }
    }
}
