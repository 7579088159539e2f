import CameoModel
import CameoStore
import CameoSystem
import Foundation
import Testing

@testable import CameoFetch
@testable import CameoWorker

/// Every decision of a settlement, in tables.
@Suite(.timeLimit(.minutes(10)))
struct SettlementRulesTests {
    // MARK: - After an attempt

    /// The result of an attempt, the reason for which the job was stopped, and what the first action must be.
    struct First: CustomTestStringConvertible, Sendable {
        let result: Result<JobProduct, any Error>
        var reason: JobControl.StopReason?
        let action: String
        var testDescription: String { "\(result.name), \(reason.map { "\($0)" } ?? "not stopped"): \(action)" }
    }

    private static let denied = StoreError.denied(location: "s3://bucket", reason: "wrong key")
    private static let timeout = "fail job.timedOut"

    private static let attempts: [First] = [
        First(result: .success(.rendered), action: "complete"),
        // What was made is stored, even if the job was stopped in the meantime.
        First(result: .success(.rendered), reason: .timedOut, action: "complete"),
        First(result: .success(.rendered), reason: .claimLost, action: "complete"),
        First(result: .success(.rendered), reason: .shutdown, action: "complete"),
        First(result: .success(.kept), action: "complete"),
        First(result: .failure(Failures.notFound), action: "fail source.notFound for good"),
        First(result: .failure(Failures.notFound), reason: .timedOut, action: "fail source.notFound for good"),
        First(result: .failure(Failures.notFound), reason: .claimLost, action: "fail source.notFound for good"),
        First(result: .failure(Failures.notFound), reason: .shutdown, action: "fail source.notFound for good"),
        First(result: .failure(Failures.slow), action: "fail source.timeout"),
        First(result: .failure(Failures.invalid), action: "fail request.invalid for good"),
        First(result: .failure(Failures.invalid), reason: .shutdown, action: "fail request.invalid for good"),
        First(result: .failure(CancellationError()), reason: .timedOut, action: timeout),
        First(result: .failure(CancellationError()), reason: .claimLost, action: "end: lease lost"),
        First(result: .failure(CancellationError()), reason: .shutdown, action: "release"),
        First(result: .failure(CancellationError()), action: "release"),
        First(result: .failure(Failures.busyHost), action: "postpone for 3.0 seconds"),
        First(result: .failure(Failures.busyHost), reason: .timedOut, action: timeout),
        First(result: .failure(Failures.busyHost), reason: .claimLost, action: "end: lease lost"),
        First(result: .failure(Failures.busyHost), reason: .shutdown, action: "release"),
        First(result: .failure(Failures.unable), action: "leave: write:avif"),
        First(result: .failure(Failures.unable), reason: .shutdown, action: "leave: write:avif"),
        First(result: .failure(StoreError.failed("odd")), action: "fail store.failed"),
        First(result: .failure(StoreError.failed("odd")), reason: .timedOut, action: timeout),
        First(result: .failure(StoreError.failed("odd")), reason: .claimLost, action: "end: lease lost"),
        First(result: .failure(StoreError.failed("odd")), reason: .shutdown, action: "release"),
        First(result: .failure(Failures.unexpected), action: "fail store.failed"),
        First(result: .failure(Failures.unexpected), reason: .timedOut, action: timeout),
        First(result: .failure(Failures.unexpected), reason: .claimLost, action: "end: lease lost"),
        First(result: .failure(Failures.unexpected), reason: .shutdown, action: "release"),
    ]

    @Test(arguments: attempts)
    func theResultAndTheReasonOfAStopDecideTheFirstAction(row: First) {
        for worker in Plan.allCases {
            let action = worker.rules.action(for: row.result, stoppedFor: row.reason, source: "a.jpg")
            #expect(action.summary == row.action, "\(worker)")
        }
    }

    /// An error of the store before there was a result, and the first action by what the worker is about to do.
    struct Trouble: CustomTestStringConvertible, Sendable {
        let error: StoreError
        let service, drain, stopping: String
        var testDescription: String { "\(error)" }

        static func always(_ error: StoreError, _ action: String) -> Trouble {
            Trouble(error: error, service: action, drain: action, stopping: action)
        }
    }

    /// As a service, a store that is in trouble is left alone for a moment; a worker that is stopping gives back at once.
    private static func passing(_ error: StoreError, drain: String = "fail store.failed") -> Trouble {
        Trouble(error: error, service: "release after 1.0 seconds", drain: drain, stopping: "release")
    }

    private static let troubles = [
        passing(.full(path: "/store"), drain: "fail store.full"),
        passing(.busy(path: "/store")),
        passing(.readOnly(path: "/store")),
        passing(.unreachable(location: "s3://bucket", reason: "no answer")),
        passing(.cannotOpen(path: "/store", reason: "Too many open files")),
        Trouble(
            error: denied,
            service: "fail store.refused",
            drain: "end: unrecorded: \(denied)",
            stopping: "release"
        ),
        .always(.leaseLost(jobID: 1), "end: lease lost"),
        .always(.damagedBlob(digest: "sha256-0"), "fail source.notFound for good"),
        .always(.refused(reason: "a rule"), "fail store.failed for good"),
        .always(.failed("odd"), "fail store.failed"),
        .always(.notFound(uri: "cameo://thumb/0"), "fail store.failed"),
    ]

    @Test(arguments: troubles)
    func troubleWithTheWholeStoreIsChargedToTheJobOnlyInADrain(row: Trouble) {
        for worker in Plan.allCases {
            let action = worker.rules.action(for: .failure(row.error), stoppedFor: nil, source: "a.jpg")
            #expect(action.summary == row.expected(of: worker), "\(worker)")
        }
    }

    @Test func timeInWhichTheWorkerStoodStillIsChargedToNobody() {
        let failures: [(any Error, JobControl.StopReason?, String)] = [
            (Failures.slow, nil, "release"), (CancellationError(), .timedOut, "release"),
            (Failures.notFound, nil, "fail source.notFound for good"),
            (CancellationError(), .claimLost, "end: lease lost"),
        ]
        for (error, reason, expected) in failures {
            let action = Plan.service.rules.action(
                for: .failure(error),
                stoppedFor: reason,
                source: "a.jpg",
                stoodStill: true
            )
            #expect(action.summary == expected)
        }
    }

    @Test func aShortageOfThisMachineIsChargedToTheJobOnlyInADrain() {
        let failure = JobFailure.fetch("a.jpg", lacking: Errno(EMFILE))
        let actions = Plan.allCases.map { $0.rules.action(for: .failure(failure), stoppedFor: nil, source: "a.jpg") }
        #expect(
            zip(Plan.allCases, actions).allSatisfy { plan, action in
                action.summary
                    == (plan.rules.drains
                        ? "fail store.failed" : plan.rules.isStopping ? "release" : "release after 1.0 seconds")
            },
            "\(actions.map(\.summary))"
        )
    }

    @Test func aFileThatThisHostLacksIsLeftToOthers() {
        let lack = HostLack.files(in: FileURI(path: Array("/srv".utf8)))
        let failure = JobFailure(.sourceNotFound, at: .fetch, "none").lacking(lack)
        for plan in Plan.allCases {
            let action = plan.rules.action(for: .failure(failure), stoppedFor: nil, source: "a.jpg")
            #expect(action.summary == "leave: file:///srv")
        }
    }

    @Test func aTimeoutNamesItsSourceAndAnUnexpectedErrorItself() throws {
        let rules = Plan.service.rules
        let timeout = rules.action(for: .failure(CancellationError()), stoppedFor: .timedOut, source: "a.jpg")
        #expect(timeout.failure?.message == "the attempt took longer than its time limit (source a.jpg)")
        let unexpected = rules.action(for: .failure(Failures.unexpected), stoppedFor: nil, source: "a.jpg")
        #expect(unexpected.failure?.message == "unexpected error: unexpected")
        let invalid = rules.action(for: .failure(Failures.invalid), stoppedFor: nil, source: "a.jpg")
        #expect(invalid.failure?.message == "the request is invalid: \(Failures.invalid)")
    }

    // MARK: - After a refusal

    /// A write that the store refused, how often and for how long, and what the next action must be.
    struct Refusal: CustomTestStringConvertible, Sendable {
        let write: AttemptEnd
        let error: StoreError
        let workers: [Plan]
        let refusals: Int
        let lasting: Duration
        let action: String

        init(
            of write: AttemptEnd = .complete(.rendered),
            _ error: StoreError,
            by workers: [Plan] = Plan.allCases,
            times refusals: Int = 1,
            lasting: Duration = .zero,
            _ action: String
        ) {
            (self.write, self.error, self.workers, self.refusals) = (write, error, workers, refusals)
            (self.lasting, self.action) = (lasting, action)
        }

        var testDescription: String { "\(write.summary) refused: \(error), refusal \(refusals), \(workers): \(action)" }
    }

    private static let full = StoreError.full(path: "/store")

    private static let ending: [Plan] = [.drain, .stoppingService, .stoppingDrain]
    private static let stopping: [Plan] = [.stoppingService, .stoppingDrain]

    private static let completions: [Refusal] = [
        .init(.leaseLost(jobID: 1), "end: lease lost"),
        .init(of: .complete(.kept), .leaseLost(jobID: 1), "end: lease lost"),
        .init(of: .complete(.kept), .notFound(uri: "a"), "release"),
        .init(.notFound(uri: "a"), "fail store.failed"),
        .init(.refused(reason: "a"), "fail store.failed for good"),
        .init(of: .complete(.kept), .refused(reason: "a"), "fail store.failed for good"),
        .init(full, "repeat complete after 0.1 seconds"),
        .init(full, times: 2, "repeat complete after 0.2 seconds"),
        // A service waits for its store, however long that takes; a worker that is about to end does not.
        .init(full, by: [.service], times: 100, lasting: .seconds(500), "repeat complete after 5.0 seconds"),
        .init(full, by: stopping, times: 3, "release"),
        .init(full, by: [.drain], times: 3, "fail store.full"),
        // What is refused for good does not hold its place, and is nobody's picture's fault.
        .init(denied, times: 2, "repeat complete after 0.2 seconds"),
        .init(denied, by: [.service], times: 3, "fail store.refused"),
        .init(denied, by: [.drain], times: 3, "end: unrecorded: \(denied)"),
        .init(denied, by: stopping, times: 3, "release"),
        .init(.failed("odd"), by: ending, times: 3, "fail store.failed"),
    ]

    @Test(arguments: completions)
    func aResultIsRepeatedUntilTheStoreTakesIt(row: Refusal) { expect(row) }

    /// All writes without thumbnails follow the same rules.
    @Test(arguments: [AttemptEnd.discard(Failures.slow), .release, .postpone(until: Plan.endedAt + 3)])
    func otherWritesAreRepeatedUntilThePatienceOfAnEndingWorkerIsOver(write: AttemptEnd) {
        let name = write.summary
        let rows: [Refusal] = [
            .init(of: write, .leaseLost(jobID: 1), "end: lease lost"),
            .init(of: write, .refused(reason: "a rule"), "end: unrecorded: a rule"),
            .init(of: write, Self.full, "repeat \(name) after 0.1 seconds"),
            .init(of: write, .notFound(uri: "a"), times: 4, lasting: .seconds(30), "repeat \(name) after 0.8 seconds"),
            .init(
                of: write,
                Self.full,
                by: [.service],
                times: 100,
                lasting: .seconds(31),
                "repeat \(name) after 5.0 seconds"
            ),
            .init(
                of: write,
                Self.full,
                by: Self.ending,
                times: 9,
                lasting: .seconds(31),
                "end: unrecorded: \(Self.full)"
            ),
        ]
        for row in rows { expect(row) }
    }

    @Test func pausesDoubleUpToFiveSeconds() {
        let pauses = (1...9).map { refusals in
            Plan.service.rules.action(after: Self.full, of: .release, refusals: refusals, lasting: .zero).summary
        }
        #expect(
            pauses.map { $0.split(separator: " ")[3] }
                == ["0.1", "0.2", "0.4", "0.8", "1.6", "3.2", "5.0", "5.0", "5.0"]
        )
    }

    private func expect(_ row: Refusal) {
        for worker in row.workers {
            let action = worker.rules.action(
                after: row.error,
                of: row.write,
                refusals: row.refusals,
                lasting: row.lasting
            )
            #expect(action.summary == row.action, "\(worker): \(row.testDescription)")
        }
    }
}
