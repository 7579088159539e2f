internal import CameoModel
internal import CameoStore

/// How many jobs may start within a time, over all workers: so many at once, and then again as the time goes by. Attempts
/// count, first ones and others.
public struct StartRate: Hashable, Sendable {
    /// Jobs, 1 to 1,000,000.
    public var count: Int
    /// To the millisecond, 1 ms to a day.
    public var period: Duration

    /// 10 a second: `StartRate(10, per: .seconds(1))`.
    public init(_ count: Int, per period: Duration) {
        self.count = count
        self.period = period
    }
}

extension StartRate {
    init?(text: String) {
        guard let rate = CameoStore.StartRate(text) else { return nil }
        self.init(rate.count, per: .milliseconds(rate.period))
    }

    /// Nil out of bounds.
    var model: CameoStore.StartRate? {
        period <= .seconds(86_400) ? CameoStore.StartRate("\(count)/\(period.milliseconds)ms") : nil
    }
}
