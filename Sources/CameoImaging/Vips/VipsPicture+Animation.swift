internal import CVips

extension VipsPicture {
    /// Height of one page, where several stand below one another.
    var pageHeight: Int { Int(vips_image_get_page_height(image)) }

    /// Milliseconds that each frame is shown; empty if the file says nothing.
    var delays: [Int] {
        var numbers: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        guard vips_image_get_typeof(image, "delay") != 0,
            vips_image_get_array_int(image, "delay", &numbers, &count) == 0, let numbers
        else { return [] }
        // The array stays libvips' own.
        return UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init)
    }

    /// How often the animation is shown, 0 for ever; nil if the file says nothing.
    var loop: Int? {
        var number: Int32 = 0
        guard vips_image_get_typeof(image, "loop") != 0, vips_image_get_int(image, "loop", &number) == 0 else {
            return nil
        }
        return Int(number)
    }
}
