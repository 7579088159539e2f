internal import CameoModel

/// Resizes to an exact size, with the box shrink and the Lanczos 3 kernel that libvips chooses.
enum Resampling {
    /// The resized picture, or nil if libvips failed.
    static func resize(_ picture: consuming VipsPicture, to size: PixelSize) -> VipsPicture? {
        guard picture.width != size.width || picture.height != size.height else { return picture }
        return picture.hasAlpha ? resizedPremultiplied(picture, to: size) : scaled(picture, to: size)
    }

    /// Resizes premultiplied, so that the colour of transparent pixels does not bleed into visible ones (dark fringes).
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
