internal import CameoModel
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Reads the body of a request.
struct RequestBodyReader {
    private let request: Request
    private let patience: Duration

    init(_ request: Request, patience: Duration) {
        self.request = request
        self.patience = patience
    }

    /// The number of bytes that the body may take: as announced, or the limit.
    func size(atMost limit: Int) -> Int {
        request.headers[.contentLength].flatMap { Int($0) }.map { min(max(0, $0), limit) } ?? limit
    }

    /// Reads the whole body. A body that is too long or too slow closes the connection. `what` names the content in the
    /// message, such as "a picture".
    func read(atMost limit: Int, _ what: String) async throws -> Data {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > limit {
            throw Self.tooLarge(what, limit)
        }
        let (body, patience) = (request.body, patience)
        return try await withThrowingTaskGroup(of: Data.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var spool = BodySpool()
                for try await buffer in body {
                    guard spool.count + buffer.readableBytes <= limit else { throw Self.tooLarge(what, limit) }
                    try await spool.append(buffer.readableBytesView)
                }
                return try await spool.contents()
            }
            group.addTask {
                try await Task.sleep(for: patience)
                var problem = Problem(
                    .requestTimeout,
                    "the body did not arrive within \(patience.milliseconds) ms"
                )
                problem.endsConnection = true
                throw problem
            }
            return try await group.next() ?? Data()
        }
    }

    static func tooLarge(_ what: String, _ limit: Int) -> Problem {
        var problem = Problem(.contentTooLarge, "\(what) may have at most \(limit) bytes", code: .sourceTooLarge)
        problem.endsConnection = true
        return problem
    }
}
