internal import CVips

/// The sole owner of one reference to a `VipsImage`. No pointer leaves the `Vips` folder.
///
/// libvips is lazy: an operation only records what to do, and decoding happens in ``materialized()``. Images hold
/// references to their inputs, so an input may be dropped as soon as its output exists.
struct VipsPicture: ~Copyable {
    let image: UnsafeMutablePointer<VipsImage>

    /// Adopts the reference that `operation` stores.
    ///
    /// - Returns: nil if the operation failed; ``VipsLibrary/takeErrorText()`` may explain why.
    init?(_ operation: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32) {
        var result: UnsafeMutablePointer<VipsImage>?
        guard operation(&result) == 0, let image = result else {
            if let result { g_object_unref(result) }
            return nil
        }
        self.image = image
    }

    init?(adopting image: UnsafeMutablePointer<VipsImage>?) {
        guard let image else { return nil }
        self.image = image
    }

    /// Another reference to the same pixels.
    func sharingReference() -> VipsPicture {
        g_object_ref(image)
        return VipsPicture(sole: image)
    }

    private init(sole image: UnsafeMutablePointer<VipsImage>) {
        self.image = image
    }

    deinit { g_object_unref(image) }
}
