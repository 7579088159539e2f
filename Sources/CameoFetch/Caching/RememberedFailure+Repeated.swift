internal import CameoModel
internal import Foundation

extension RememberedFailure {
    /// The failure for a fetch that is answered from memory. Its next attempt waits until the memory expires.
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
