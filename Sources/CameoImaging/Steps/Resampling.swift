internal import CameoModel

/// Resizing to an exact size, shared by the steps that do it. Lanczos 3 with a box shrink before it, as libvips chooses.
enum Resampling {
    /// Nil where libvips failed.
    static func resize(_ picture: consuming VipsPicture, to size: PixelSize) -> VipsPicture? {
        guard picture.width != size.width || picture.height != size.height else { return picture }
        return picture.hasAlpha ? resizedPremultiplied(picture, to: size) : scaled(picture, to: size)
    }

    /// The colour of transparent pixels must not bleed into visible ones (dark fringes).
    private static func resizedPremultiplied(_ picture: borrowing VipsPicture, to size: PixelSize) -> VipsPicture? {
        let format = picture.format
        guard let premultiplied = picture.premultiplied(), let resized = scaled(premultiplied, to: size),
            let unpremultiplied = resized.unpremultiplied()
        else { return nil }
        return unpremultiplied.rounded()?.cast(to: format)
    }

    private static func scaled(_ picture: borrowing VipsPicture, to size: PixelSize) -> VipsPicture? {
        picture.resized(
            horizontalScale: Double(size.width) / Double(picture.width),
            verticalScale: Double(size.height) / Double(picture.height)
        )
    }
}
