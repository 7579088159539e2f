internal import CameoModel

/// Where the body of an answer goes.
enum BodyDestination: Sendable {
    /// Into memory; a longer body ends the transfer.
    case memory(limit: Int)
    /// Into a file, from its beginning and in place of what it contains; a longer body ends the transfer.
    case file(OpenFile, limit: Int)

    var limit: Int {
        switch self {
        case .memory(let limit), .file(_, let limit): limit
        }
    }
}
