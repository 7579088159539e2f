internal import CameoModel

/// A rectangle of a picture, in whole pixels from its top left corner.
struct PixelArea: Hashable {
    var left: Int
    var top: Int
    var size: PixelSize

    static func whole(_ size: PixelSize) -> PixelArea { PixelArea(left: 0, top: 0, size: size) }

    /// The part of this area that a request names. A fraction that rounds to nothing becomes one pixel.
    ///
    /// - Throws: `cropOutside` if the crop extends beyond the area.
    func cropped(to area: Rendition.CropArea) throws(ImagingError) -> PixelArea {
        switch area.unit {
        case .pixels:
            guard area.left + area.width <= Double(size.width), area.top + area.height <= Double(size.height) else {
                let crop = "\(Int(area.width)) × \(Int(area.height)) at \(Int(area.left)),\(Int(area.top))"
                let predicate = "is \(size) pixels where it is cropped, but the crop of \(crop) extends beyond it"
                throw ImagingError(.cropOutside, predicate)
            }
            return PixelArea(
                left: left + Int(area.left),
                top: top + Int(area.top),
                size: PixelSize(Int(area.width), Int(area.height))
            )
        case .fraction:
            let (across, down) = (Double(size.width), Double(size.height))
            let (x, width) = Self.span(area.left * across, (area.left + area.width) * across, in: size.width)
            let (y, height) = Self.span(area.top * down, (area.top + area.height) * down, in: size.height)
            return PixelArea(left: left + x, top: top + y, size: PixelSize(width, height))
        }
    }

    /// The first pixel of an edge between two positions, and how many. Rounds at both ends, so that neighbouring fractions
    /// meet without gap or overlap.
    private static func span(_ start: Double, _ end: Double, in edge: Int) -> (first: Int, count: Int) {
        let first = min(edge - 1, Int(start.rounded()))
        return (first, max(1, min(edge, Int(end.rounded())) - first))
    }

    /// The same area in a picture of another size; at least one pixel, and inside the picture.
    func scaled(from whole: PixelSize, to other: PixelSize) -> PixelArea {
        guard whole != other else { return self }
        let (across, down) = other.factors(from: whole)
        let (x, width) = Self.span(Double(left) * across, Double(left + size.width) * across, in: other.width)
        let (y, height) = Self.span(Double(top) * down, Double(top + size.height) * down, in: other.height)
        return PixelArea(left: x, top: y, size: PixelSize(width, height))
    }

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

extension PixelArea {
    /// The area of `inner`, which is no wider and no higher than `outer`, when it is placed there.
    ///
    /// If the spare pixels around a centred rectangle are odd, it is placed half a pixel to the left and above, as in
    /// libvips. A focal point is moved to the centre as far as the edges allow. Smart gravities count as the centre.
    init(placing inner: PixelSize, in outer: PixelSize, gravity: Rendition.Gravity) {
        size = inner
        if case .focus(let point) = gravity {
            left = Self.offset(of: inner.width, in: outer.width, around: point.x)
            top = Self.offset(of: inner.height, in: outer.height, around: point.y)
            return
        }
        let (spareWidth, spareHeight) = (outer.width - inner.width, outer.height - inner.height)
        switch gravity {
        case .west, .northwest, .southwest: left = 0
        case .east, .northeast, .southeast: left = spareWidth
        case .center, .north, .south, .entropy, .attention, .focus: left = spareWidth / 2
        }
        switch gravity {
        case .north, .northeast, .northwest: top = 0
        case .south, .southeast, .southwest: top = spareHeight
        case .center, .east, .west, .entropy, .attention, .focus: top = spareHeight / 2
        }
    }

    private static func offset(of inner: Int, in outer: Int, around share: Double) -> Int {
        let wanted = Int((share * Double(outer) - Double(inner) / 2).rounded())
        return min(max(0, wanted), outer - inner)
    }
}
