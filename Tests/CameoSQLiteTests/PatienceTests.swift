import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct PatienceTests {
    private let patience: Patience = {
        let patience = Patience()
        patience.set(milliseconds: 5_000)
        return patience
    }()

    @Test func aWaitEndsAtTheLimit() {
        let times = stride(from: Int64(0), through: 10_000, by: 100)
        let lasting = times.enumerated().prefix { patience.isWithinLimit(tries: $0.offset, at: $0.element) }
        #expect(lasting.last?.element == 4_900)
    }

    @Test func aPauseOfTheMachineIsNotWaiting() {
        // Each pause counts as one second: the limit of five is reached after the fifth.
        for (tries, time) in [Int64(0), 60_000, 120_000, 180_000, 240_000].enumerated() {
            #expect(patience.isWithinLimit(tries: tries, at: time))
        }
        #expect(!patience.isWithinLimit(tries: 5, at: 300_000))
    }

    @Test func eachWaitCountsFromItsOwnBeginning() {
        for (tries, time) in [Int64(0), 900, 1_800, 2_700, 3_600, 4_500].enumerated() {
            #expect(patience.isWithinLimit(tries: tries, at: time))
        }
        #expect(patience.isWithinLimit(tries: 0, at: 5_400))
        #expect(patience.isWithinLimit(tries: 1, at: 6_300))
    }
}
