internal import CVips
internal import Glibc

/// The frames of an animation on their way into one tall picture, their pixels copied below one another.
///
/// Not vips_arrayjoin: in libvips 8.14.1 it ends in a segmentation fault when pictures in memory are joined in one column.
struct VipsFrames: ~Copyable {
    private let count: Int
    private var taken = 0
    private var first: VipsPicture?
    private var pixels: UnsafeMutableRawPointer?
    private var frameBytes = 0

    init(count: Int) {
        self.count = count
    }

    /// Takes in the next frame, which is in memory and of the same size and kind as the first. False if it is not, or
    /// there is no memory for all.
    mutating func append(_ frame: borrowing VipsPicture) -> Bool {
        let bytes = frame.width * frame.height * frame.bands * Int(vips_format_sizeof(frame.format))
        if pixels == nil {
            frameBytes = bytes
            pixels = malloc(frameBytes * count)
            first = frame.sharingReference()
        }
        guard let pixels, let source = vips_image_get_data(frame.image), bytes == frameBytes, taken < count else {
            return false
        }
        memcpy(pixels + taken * frameBytes, source, frameBytes)
        taken += 1
        return true
    }

    /// All frames below one another. The picture must not outlive this value: it has no pixels of its own.
    func stacked() -> VipsPicture? {
        guard taken == count, let pixels else { return nil }
        switch first {
        case .some(let first):
            return VipsPicture {
                cameo_vips_over_memory(pixels, frameBytes * count, first.image, Int32(first.height * count), $0)
            }
        case .none: return nil
        }
    }

    deinit { free(pixels) }
}
