internal import CameoModel

extension PixelArea {
    /// Where an area of an upright picture is in the picture as stored. The EXIF orientation (TIFF 6.0, p. 36) is 1…8.
    func stored(of upright: PixelSize, orientation: Int) -> PixelArea {
        let (right, bottom) = (upright.width - left - size.width, upright.height - top - size.height)
        return switch orientation {
        case 2: PixelArea(left: right, top: top, size: size)
        case 3: PixelArea(left: right, top: bottom, size: size)
        case 4: PixelArea(left: left, top: bottom, size: size)
        case 5: PixelArea(left: top, top: left, size: size.turned)
        case 6: PixelArea(left: top, top: right, size: size.turned)
        case 7: PixelArea(left: bottom, top: right, size: size.turned)
        case 8: PixelArea(left: bottom, top: left, size: size.turned)
        default: self
        }
    }
}
