internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Lists queues, pauses, resumes and limits them, moves them to the background, makes them fair, and back.
extension WebExchange {
    private static let maximumBody = 4_096
    private static let nothing = Problem(
        .notFound,
        "nothing here: the paths are /queues and, with /queues/NAME before them, /pause, /resume, /limit, /background, "
            + "/foreground, /fair and /unfair"
    )

    func queues() async throws -> Response {
        guard let rest = target.firstSegment.rest else {
            try check(allows: .get, .head)
            try admit(.read)
            return try Response(message: ["queues": try await site.store.queues()])
        }
        let (name, verb) = RequestTarget.split(rest)
        guard let verb, let change = Change(rawValue: String(verb)) else { throw Self.nothing }
        try check(allows: .post)
        return try await apply(change, to: try RequestTarget.decoded(name))
    }

    private enum Change: String {
        case pause, resume, limit, background, foreground, fair, unfair
    }

    private func apply(_ change: Change, to queue: String) async throws -> Response {
        let name = try admit(.operate)
        var metadata: Logger.Metadata = ["by": "\(name)", "change": "\(change)", "queue": "\(queue)"]
        switch change {
        case .pause: _ = try await site.store.pause(queue, unknown: .refused)
        case .resume: _ = try await site.store.resume(queue)
        case .background, .foreground:
            try await site.store.setBackground(change == .background, queue: queue, unknown: .refused)
        case .fair, .unfair: try await site.store.setFair(change == .fair, queue: queue, unknown: .refused)
        case .limit:
            let body = try RequestBodyReader(request, context, site)
            let bytes = try await body.read(atMost: Self.maximumBody, "a limit")
            let limit = try QueueLimit(parsing: bytes)
            if let concurrency = limit.concurrency {
                try await site.store.limit(queue: queue, to: concurrency, unknown: .refused)
                metadata["concurrency"] = concurrency.map { .stringConvertible($0) } ?? "none"
            }
            if let rate = limit.rate {
                try await site.store.limit(queue: queue, toRate: rate, unknown: .refused)
                metadata["rate"] = "\(rate.map(\.description) ?? "none")"
            }
        }
        site.logger.notice("queue changed", metadata: metadata)
        return try Response(message: try await site.store.queue(queue))
    }
}

/// What `POST /queues/NAME/limit` asks for: `{"concurrency":4,"rate":"10/s"}`, either or both; null removes a limit.
private struct QueueLimit {
    /// Nil if it was not given; what was given is nil if the limit is to be removed.
    let concurrency: Int??
    let rate: StartRate??

    init(parsing bytes: Data) throws(InvalidRequest) {
        guard case .object(let members) = try JSONValue(reading: bytes, atMost: bytes.count) else {
            throw InvalidRequest(path: "", reason: "must be an object")
        }
        if let unknown = members.keys.sorted().first(where: { $0 != "concurrency" && $0 != "rate" }) {
            throw InvalidRequest(path: unknown, reason: "unknown field: the fields are concurrency and rate")
        }
        guard !members.isEmpty else {
            throw InvalidRequest(path: "", reason: "must have concurrency, rate or both")
        }
        switch members["concurrency"] {
        case nil: concurrency = nil
        case .null: concurrency = .some(nil)
        case let value?:
            // Some encoders write 4.0.
            let number: Int? =
                switch value {
                case .integer(let number): Int(number)
                case .number(let number): Int(exactly: number)
                default: nil
                }
            guard let number, (1...Int(Int32.max)).contains(number) else {
                let reason = "must be a whole number from 1 to \(Int32.max), or null"
                throw InvalidRequest(path: "concurrency", reason: reason)
            }
            concurrency = number
        }
        switch members["rate"] {
        case nil: rate = nil
        case .null: rate = .some(nil)
        case .string(let text) where StartRate(text) != nil: rate = .some(StartRate(text))
        default: throw InvalidRequest(path: "rate", reason: "must be a rate such as 10/s, 300/m or 5/30s, or null")
        }
    }
}
