package import CameoModel

/// Where one rectangle stands in another: the offset of the smaller from the larger's left upper corner.
package struct Placement: Hashable, Sendable {
    package let left: Int
    package let top: Int

    /// A centred rectangle whose spare pixels are odd stands half a pixel to the left and above, as in libvips.
    /// A focal point is brought to the middle as far as the edges allow. `inner` is no wider and no higher than `outer`; a
    /// gravity that the pixels decide counts as the centre.
    package init(of inner: PixelSize, in outer: PixelSize, gravity: Rendition.Gravity) {
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

    package init(left: Int, top: Int) {
        self.left = left
        self.top = top
    }
}
