internal import ArgumentParser
package import CameoStore

/// How long finished jobs and unread thumbnails are kept, for the commands that remove them.
package struct RetentionOptions: ParsableArguments {
    @Option(
        help: """
            Keep completed, cancelled and discarded jobs, and thumbnails that nobody reads, this long or forever: \
            completed=12h,discarded=forever. Thumbnails outlive their jobs; they are kept after they were last read or made, \
            at least \(Retention.shortestForThumbnails.argument). Repeatable. (default: \
            completed=\(Self.text(Retention().completed)),cancelled=\(Self.text(Retention().cancelled)),\
            discarded=\(Self.text(Retention().discarded)),thumbnails=\(Self.text(Retention().thumbnails)))
            """.taking("kind=duration"),
        transform: Change.reading([
            NamedValue("completed", \.completed) { try Self.duration($0, of: "completed") },
            NamedValue("cancelled", \.cancelled) { try Self.duration($0, of: "cancelled") },
            NamedValue("discarded", \.discarded) { try Self.duration($0, of: "discarded") },
            NamedValue("thumbnails", \.thumbnails) { try Self.thumbnails($0) },
        ])
    )
    var keep: [Change<Retention>] = []

    package init() {}

    package var retention: Retention {
        var retention = Retention()
        keep.apply(to: &retention)
        return retention
    }

    private static func text(_ duration: Duration?) -> String { duration?.argument ?? "forever" }

    /// Reads a duration, or nil for `forever`.
    private static func duration(_ text: String, of kind: String) throws -> Duration? {
        let duration = Duration(parsing: text)
        guard duration != nil || text == "forever" else {
            throw ValidationError("\(kind) must be a duration such as 7d, or forever")
        }
        return duration
    }

    private static func thumbnails(_ text: String) throws -> Duration? {
        let shortest = Retention.shortestForThumbnails
        let duration = try duration(text, of: "thumbnails")
        guard let duration, duration < shortest else { return duration }
        throw ValidationError(
            "thumbnails must be at least \(shortest.argument), not \(duration.argument): the last read of a thumbnail is "
                + "recorded only to the hour"
        )
    }
}
