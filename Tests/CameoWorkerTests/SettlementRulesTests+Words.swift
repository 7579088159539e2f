import CameoModel
import CameoStore
import Foundation

@testable import CameoFetch
@testable import CameoWorker

extension SettlementRulesTests {
    /// Whether a worker drains the queue, and whether it has been told to stop.
    enum Plan: CaseIterable {
        case service, drain, stoppingService, stoppingDrain

        static let endedAt = Date(timeIntervalSince1970: 0)

        var rules: SettlementRules {
            SettlementRules(
                isStopping: self == .stoppingService || self == .stoppingDrain,
                drains: self == .drain || self == .stoppingDrain,
                patience: .seconds(30),
                endedAt: Self.endedAt,
                chance: 0.5,
                delay: { _ in nil }
            )
        }
    }

    enum Failures {
        static let notFound = JobFailure(.sourceNotFound, at: .fetch, "gone")
        static let slow = JobFailure(.sourceTimeout, at: .fetch, "slow")
        static let invalid = InvalidRequest(path: "source", reason: "must be text")
        static let unable = HostUnable(.writing(.avif), for: "a.jpg")
        static let busyHost = HostBusy(host: "example.com", delay: .seconds(3))
        static let unexpected = Unexpected()
    }

    struct Unexpected: Error, CustomStringConvertible {
        var description: String { "unexpected" }
    }
}

extension SettlementRulesTests.Trouble {
    func expected(of worker: SettlementRulesTests.Plan) -> String {
        switch worker {
        case .service: service
        case .drain: drain
        case .stoppingService, .stoppingDrain: stopping
        }
    }
}

extension JobProduct {
    /// A product of no thumbnails: a decision looks at its kind only.
    static let kept = JobProduct.kept([], nil)

    static let rendered: JobProduct = {
        do {
            let provenance = Provenance(
                source: try SourceIdentity(of: "file:///a.jpg"),
                sourceDigest: BlobDigest(of: Data()),
                sourceSeen: 1,
                rendererVersion: "test-1",
                picture: PictureFacts(format: .jpeg, width: 1, height: 1, pages: 1, hasAlpha: false),
                isTruncated: false
            )
            return .rendered([], provenance)
        } catch {
            fatalError("\(error)")
        }
    }()
}

extension Result<JobProduct, any Error> {
    var name: String {
        switch self {
        case .success(.rendered): "rendered"
        case .success(.kept): "kept"
        case .failure(let error): "\(error)"
        }
    }
}

extension AttemptEnd {
    /// The write in words, as tables name it: whether a failure is retried is decided elsewhere.
    var summary: String {
        switch self {
        case .complete: "complete"
        case .retry(let failure, _), .discard(let failure):
            "fail \(failure.code.rawValue)\(failure.isRetryable ? "" : " for good")"
        case .release: "release"
        case .postpone(let time): "postpone for \(time.timeIntervalSince1970) seconds"
        case .leave(let unable, _): "leave: \(unable.lack)"
        }
    }
}

extension SettlementAction {
    /// The action in words, as tables name it.
    var summary: String {
        switch self {
        case .write(let write, .zero, 0): write.summary
        case .write(let write, let pause, 0): "\(write.summary) after \(pause)"
        case .write(let write, let pause, _): "repeat \(write.summary) after \(pause)"
        case .end(let outcome): "end: \(outcome.summary)"
        }
    }

    var failure: JobFailure? {
        guard case .write(.discard(let failure), _, _) = self else { return nil }
        return failure
    }
}
