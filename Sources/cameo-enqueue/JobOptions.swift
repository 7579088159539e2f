internal import ArgumentParser
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// How and when a job runs.
struct JobOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The queue's name.", valueName: "name"))
    var queue: String = ThumbnailRequest.defaultQueue

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("-100 to 100, higher first.", valueName: "number")
    )
    var priority: Int = 0

    @Option(help: ArgumentHelp("Not before this time: 2030-01-31T12:00:00Z.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("A label to ask for these jobs together.", valueName: "label"))
    var batch: String?

    @Option(help: ArgumentHelp("Attempts before a job is given up, 1 to 25.", valueName: "number"))
    var maxAttempts: Int = ThumbnailRequest.defaultMaxAttempts

    @Option(help: ArgumentHelp("Seconds that one attempt may take. (default: the worker's)", valueName: "seconds"))
    var timeout: Double?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Sent with the request for an http(s) source: 'Name: value'. Repeatable.",
            valueName: "header"
        )
    )
    var headers: [String] = []

    @Option(help: ArgumentHelp("A JSON object that comes back in every report on the job.", valueName: "json"))
    var metadata: String?

    /// Those that were typed with another value than their default.
    var given: [String] {
        [
            ("--queue", queue != ThumbnailRequest.defaultQueue), ("--priority", priority != 0), ("--at", at != nil),
            ("--batch", batch != nil), ("--max-attempts", maxAttempts != ThumbnailRequest.defaultMaxAttempts),
            ("--timeout", timeout != nil), ("--header", !headers.isEmpty), ("--metadata", metadata != nil),
        ]
        .filter(\.1).map(\.0)
    }

    func apply(to request: inout ThumbnailRequest) throws {
        request.queue = queue
        request.priority = priority
        request.batch = batch
        request.maxAttempts = maxAttempts
        request.timeout = timeout
        if let at {
            guard let date = WireFormat.date(from: at) else {
                throw CommandFailure("--at \(at): must be a time such as 2030-01-31T12:00:00Z", .usage)
            }
            request.runAt = date
        }
        for header in headers {
            guard let colon = header.firstIndex(of: ":") else {
                throw CommandFailure("--header \(header): must be 'Name: value'", .usage)
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            let name = String(header[..<colon])
            guard request.headers.updateValue(value, forKey: name) == nil else {
                throw CommandFailure("--header \(name): is there twice", .usage)
            }
        }
        if let metadata {
            guard let json = try? JSONValue(parsing: metadata), case .object(let members) = json else {
                throw CommandFailure("--metadata: must be a JSON object", .usage)
            }
            request.metadata = members
        }
    }
}
