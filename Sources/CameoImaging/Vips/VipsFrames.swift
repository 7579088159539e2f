internal import CVips
internal import Glibc

/// Stacks the frames of an animation vertically by copying their pixels into one tall picture. Frames that are missing at
/// its end are black, or transparent.
///
/// vips_arrayjoin is no alternative: in libvips 8.14.1 it crashes when it joins pictures in memory in one column.
struct VipsFrames: ~Copyable {
    private let count: Int
    private var taken = 0
    private var first: VipsPicture?
    private var pixels: UnsafeMutableRawPointer?
    private var frameBytes = 0

    init(count: Int) {
        self.count = count
    }

    /// Appends the next frame, which is in memory and has the size and type of the first. Returns false if it has not,
    /// or if there is not enough memory.
    mutating func append(_ frame: borrowing VipsPicture) -> Bool {
        let bytes = frame.width * frame.height * frame.bands * Int(vips_format_sizeof(frame.format))
        if pixels == nil {
            frameBytes = bytes
            pixels = calloc(count, frameBytes)
            first = frame.sharingReference()
        }
        guard let pixels, let source = vips_image_get_data(frame.image), bytes == frameBytes, taken < count else {
            return false
        }
        memcpy(pixels + taken * frameBytes, source, frameBytes)
        taken += 1
        return true
    }

    /// All frames stacked vertically. The picture must not outlive this value, which owns its pixels.
    func stacked() -> VipsPicture? {
        guard let pixels else { return nil }
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
