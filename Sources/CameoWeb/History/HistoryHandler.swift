internal import Hummingbird

/// Serves what happened in the store during the last hour.
struct HistoryHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    private struct Answer: Encodable {
        let minutes: [History.Minute]
    }

    func answer() throws -> Response {
        try target.query.allow()
        try site.configuration.tokens.demand(.read, of: request)
        return try Response(message: Answer(minutes: site.history.minutes))
    }
}
