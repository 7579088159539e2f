package import CameoModel

/// How far the download of a claimed job has come.
package struct RunningTransfer: Hashable, Codable, Sendable {
    /// The claim's token.
    package let token: String
    package let transfer: JobAttempt.Transfer

    package init(token: String, transfer: JobAttempt.Transfer) {
        self.token = token
        self.transfer = transfer
    }
}
