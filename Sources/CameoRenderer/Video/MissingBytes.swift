/// The answer of `cameo-frames` for a video of which it needs more than is there.
struct MissingBytes: Error {
    /// Bytes of the video that it needs, one of each missing part.
    let offsets: Set<Int>
}
