package import CameoModel

/// Where one rectangle stands in another: the offset of the smaller from the larger's left upper corner.
package struct Placement: Hashable, Sendable {
    package let left: Int
    package let top: Int

    /// A centred rectangle whose spare pixels are odd stands half a pixel to the left and above, as in libvips.
    /// `inner` is no wider and no higher than `outer`; a gravity that is no compass point counts as the centre.
    package init(of inner: PixelSize, in outer: PixelSize, gravity: Rendition.Gravity) {
        let (spareWidth, spareHeight) = (outer.width - inner.width, outer.height - inner.height)
        switch gravity {
        case .west, .northwest, .southwest: left = 0
        case .east, .northeast, .southeast: left = spareWidth
        case .center, .north, .south, .entropy, .attention: left = spareWidth / 2
        }
        switch gravity {
        case .north, .northeast, .northwest: top = 0
        case .south, .southeast, .southwest: top = spareHeight
        case .center, .east, .west, .entropy, .attention: top = spareHeight / 2
        }
    }
}
