package import CameoModel

/// The position of one rectangle in another: the offset from the larger one's top left corner.
package struct Placement: Hashable, Sendable {
    package let left: Int
    package let top: Int

    /// Places `inner`, which is no wider and no higher than `outer`.
    ///
    /// If the spare pixels around a centred rectangle are odd, it is placed half a pixel to the left and above, as in
    /// libvips. A focal point is moved to the centre as far as the edges allow. Smart gravities count as the centre.
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
