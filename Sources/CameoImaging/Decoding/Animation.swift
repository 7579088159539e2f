/// The timing of an animation.
struct Animation: Hashable {
    /// At least 2.
    let frames: Int
    /// Milliseconds that each frame is shown; as many as there are frames.
    let delays: [Int]
    /// How often it is shown; 0: for ever.
    let loop: Int

    /// What browsers do with frames that name no time (or less than a hundredth of a second or so).
    private static let defaultDelay = 100

    /// - Parameter roll: all frames below one another, as loaded. Nil for a single one.
    init?(of roll: borrowing VipsPicture) {
        guard roll.pageHeight > 0, roll.height / roll.pageHeight > 1 else { return nil }
        frames = roll.height / roll.pageHeight
        let delays = roll.delays
        self.delays = (0..<frames).map { $0 < delays.count ? delays[$0] : Self.defaultDelay }
        loop = roll.loop ?? 0
    }
}
