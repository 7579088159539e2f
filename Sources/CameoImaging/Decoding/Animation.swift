/// The timing of an animation.
struct Animation: Hashable {
    /// The number of frames, at least 2.
    let frames: Int
    /// How long each frame is shown, in milliseconds; one entry per frame.
    let delays: [Int]
    /// The number of repetitions; 0 means forever.
    let loop: Int

    /// The delay of frames that name none, as browsers choose it. Unit: milliseconds.
    private static let defaultDelay = 100

    /// - Parameter roll: all frames stacked vertically, as loaded. The initializer returns nil for a single frame.
    init?(of roll: borrowing VipsPicture) {
        guard roll.pageHeight > 0, roll.height / roll.pageHeight > 1 else { return nil }
        frames = roll.height / roll.pageHeight
        let delays = roll.delays
        self.delays = (0..<frames).map { $0 < delays.count ? delays[$0] : Self.defaultDelay }
        loop = roll.loop ?? 0
    }
}
