internal import CameoModel

/// The decoded pixels from which every rendition of a group is made.
final class SharedPicture {
    let format: PictureFormat
    /// The size of a page or frame of the source, upright.
    let sourceSize: PixelSize
    /// The same as it is measured, see ``PicturePart``.
    let canvas: PixelSize
    /// The size of a page or frame of this picture, upright.
    let frameSize: PixelSize
    /// The part of the shrunk picture that this is, in upright pixels; nil for all of it.
    let kept: PixelArea?
    let animation: Animation?
    let metadata: SourceMetadata
    /// sRGB or grey pixels, upright; for an animation, its frames stacked vertically as stored.
    private let standard: VipsPicture
    /// The same pixels in the source's own colour space; nil if no rendition needs them or there is no profile.
    private let device: VipsPicture?

    var hasDevicePixels: Bool { device != nil }

    init(
        standard: consuming VipsPicture,
        device: consuming VipsPicture?,
        facts: PictureFacts,
        canvas: PixelSize,
        kept: PixelArea?,
        animation: Animation?,
        metadata: SourceMetadata
    ) {
        format = facts.format
        sourceSize = facts.size
        self.canvas = canvas
        self.kept = kept
        self.animation = animation
        self.metadata = metadata
        // Frames of a video are upright, and may have been made smaller already.
        let isWhole = animation != nil && facts.format != .video
        frameSize = isWhole ? facts.size : PixelSize(standard.width, standard.height / (animation?.frames ?? 1))
        self.standard = standard
        self.device = device
    }

    private func inSourceProfilePicture() -> VipsPicture {
        switch device {
        case .some(let device): device.sharingReference()
        case .none: standard.sharingReference()
        }
    }

    /// One frame, upright and without metadata.
    func frame(_ index: Int, inSourceProfile: Bool) throws(ImagingError) -> VipsPicture {
        let picture = inSourceProfile ? inSourceProfilePicture() : standard.sharingReference()
        guard let animation else { return picture }
        let height = picture.height / animation.frames
        guard let frame = picture.cropped(left: 0, top: index * height, width: picture.width, height: height) else {
            throw .processingFailed(step: "frame \(index)", detail: VipsLibrary.takeErrorText())
        }
        let preparation = Preparation(format: format, sharedSize: frameSize)
        return try RenderPipeline.prepare(frame, by: RenderPipeline.uprighting, preparation)
    }
}
