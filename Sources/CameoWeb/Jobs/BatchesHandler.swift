internal import CameoModel
internal import CameoStore
internal import Hummingbird

/// Lists batches and reports one.
struct BatchesHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    private static let limitRange: ClosedRange<Int64> = 1...100

    func answer() async throws -> Response {
        guard let name = target.firstSegment.rest else { return try await list() }
        try target.query.allow()
        try site.configuration.tokens.demand(.read, of: request)
        return try Response(message: try await site.store.batch(try RequestTarget.decoded(name)))
    }

    private func list() async throws -> Response {
        try target.query.allow("limit", "cursor")
        try site.configuration.tokens.demand(.read, of: request)
        let limit = try target.query.integer("limit", in: Self.limitRange) ?? 20
        let cursor = try target.query.integer("cursor", in: 1...Int64.max)
        let page = try await site.store.batches(before: cursor, limit: Int(limit))
        var members: [String: JSONValue] = [
            "batches": .array(try page.batches.map { .object(try JobView.members(of: $0)) })
        ]
        if let next = page.next { members["next"] = .integer(next) }
        return Response(json: .object(members))
    }
}
