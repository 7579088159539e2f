internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages

extension PictureMessage {
    init(_ facts: PictureFacts, _ renditions: [EncodedRendition]) {
        self.init(
            source: Source(
                format: facts.format.rawValue,
                width: facts.size.width,
                height: facts.size.height,
                pages: facts.pages,
                hasAlpha: facts.hasAlpha
            ),
            renditions: renditions.map {
                Announcement(format: $0.format, width: $0.width, height: $0.height, byteCount: $0.bytes.count)
            }
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
        case .unsupportedFormat, .unsupportedPixels: self = .unsupportedFormat
        case .corrupt: self = .corrupt
        case .tooManyPixels, .renditionTooLarge: self = .tooManyPixels
        case .outOfMemory: self = .outOfMemory
        case .encodingFailed, .processingFailed, .unreadable: self = .failed
        }
    }
}
