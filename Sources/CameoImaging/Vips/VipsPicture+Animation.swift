internal import CVips

extension VipsPicture {
    /// The height of one page if several are stacked vertically.
    var pageHeight: Int { Int(vips_image_get_page_height(image)) }

    /// The same pixels as frames of half a second that stand one below the other. Nil unless the height is a multiple.
    func rolled(frames: Int) -> VipsPicture? {
        guard frames > 0, height.isMultiple(of: frames) else { return nil }
        let delays = [Int32](repeating: 500, count: frames)
        return VipsPicture { out in
            let result = cameo_vips_copy(image, out)
            guard result == 0 else { return result }
            vips_image_set_int(out.pointee, "page-height", Int32(height / frames))
            vips_image_set_int(out.pointee, "n-pages", Int32(frames))
            vips_image_set_array_int(out.pointee, "delay", delays, Int32(frames))
            return 0
        }
    }

    /// Frames that stand one below the other, side by side, row by row; their number is a multiple of the columns.
    func grid(frames: Int, columns: Int) -> VipsPicture? {
        VipsPicture { cameo_vips_grid(image, $0, Int32(height / frames), Int32(columns), Int32(frames / columns)) }
    }

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
