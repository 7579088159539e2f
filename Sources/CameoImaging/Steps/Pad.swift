internal import CVips
internal import CameoModel

/// Pads a picture to the size of its box.
enum Pad: RenditionStep {
    static let name = "padding"

    static func apply(to picture: consuming VipsPicture, _ plan: RenditionPlan) -> VipsPicture? {
        guard plan.geometry.isPadded else { return picture }
        let box = plan.geometry.final
        let place = Placement(of: plan.geometry.resized, in: box, gravity: plan.rendition.gravity)
        // A translucent background is drawn later, behind padding and picture alike (``ShowBackground``).
        let background = plan.background.alpha < 255 ? Color.transparent : plan.background
        guard let ready = prepared(picture, for: background) else { return nil }
        return ready.embedded(
            left: place.left,
            top: place.top,
            width: box.width,
            height: box.height,
            background: numbers(of: background, for: ready)
        )
    }

    /// Adds the colour and alpha bands that the background needs.
    private static func prepared(_ picture: consuming VipsPicture, for background: Color) -> VipsPicture? {
        var ready = picture
        if !background.isNeutral, ready.colorBands < 3 {
            guard let colored = ready.converted(to: VIPS_INTERPRETATION_sRGB) else { return nil }
            ready = colored
        }
        if background.alpha < 255, !ready.hasAlpha {
            guard let withAlpha = ready.addingAlpha() else { return nil }
            ready = withAlpha
        }
        return ready
    }

    private static func numbers(of background: Color, for picture: borrowing VipsPicture) -> [Double] {
        background.numbers(bands: picture.colorBands) + (picture.hasAlpha ? [Double(background.alpha)] : [])
    }
}
