internal import CVips

extension VipsPicture {
    /// The height of one page if several are stacked vertically.
    var pageHeight: Int { Int(vips_image_get_page_height(image)) }

    /// How long each frame is shown, in milliseconds; empty if the file does not say.
    var delays: [Int] {
        var numbers: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        guard vips_image_get_typeof(image, "delay") != 0,
            vips_image_get_array_int(image, "delay", &numbers, &count) == 0, let numbers
        else { return [] }
        // libvips keeps ownership of the array.
        return UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init)
    }

    /// The number of repetitions, 0 for forever; nil if the file does not say.
    var loop: Int? {
        var number: Int32 = 0
        guard vips_image_get_typeof(image, "loop") != 0, vips_image_get_int(image, "loop", &number) == 0 else {
            return nil
        }
        return Int(number)
    }
}
