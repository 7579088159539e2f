internal import CameoModel
internal import Foundation

extension RememberedFailure {
    /// The next attempt, which is not answered from memory, waits until this is over: its server said so, or was found
    /// unable to answer just now.
    func repeated(at now: Date) -> JobFailure {
        JobFailure(
            failure.code,
            at: failure.stage,
            "\(failure.message) (remembered since \(WireFormat.text(of: since)), asked again from "
                + "\(WireFormat.text(of: until)) on)",
            isRetryable: failure.isRetryable,
            retryAfter: failure.isRetryable ? .seconds(max(0, until.timeIntervalSince(now))) : nil
        )
    }
}
