internal import ArgumentParser
package import CameoStore

/// How long finished jobs and unread thumbnails are kept, for the commands that remove them.
package struct RetentionOptions: ParsableArguments {
    @Option(help: "Keep completed jobs this long, or forever. Their thumbnails are kept.".taking("duration"))
    var keepCompleted = KeepArgument(Retention().completed)

    @Option(help: "Keep cancelled jobs this long, or forever.".taking("duration"))
    var keepCancelled = KeepArgument(Retention().cancelled)

    @Option(help: "Keep discarded jobs this long, or forever.".taking("duration"))
    var keepDiscarded = KeepArgument(Retention().discarded)

    @Option(
        help: """
            Keep thumbnails this long after they were last read or made, or forever; at least \
            \(Retention.shortestForThumbnails.argument).
            """.taking("duration")
    )
    var keepThumbnails = KeepArgument(Retention().thumbnails)

    package init() {}

    package func validate() throws {
        let shortest = Retention.shortestForThumbnails
        guard let duration = keepThumbnails.duration, duration < shortest else { return }
        throw ValidationError(
            "--keep-thumbnails must be at least \(shortest.argument), not \(duration.argument): the last read of a "
                + "thumbnail is recorded only to the hour"
        )
    }

    package var retention: Retention {
        var retention = Retention()
        retention.completed = keepCompleted.duration
        retention.cancelled = keepCancelled.duration
        retention.discarded = keepDiscarded.duration
        retention.thumbnails = keepThumbnails.duration
        return retention
    }
}

/// A duration for which something is kept, or `forever`.
package struct KeepArgument: Hashable, Sendable, ExpressibleByArgument {
    /// The duration, or nil for forever.
    package let duration: Duration?

    package init(_ duration: Duration?) {
        self.duration = duration
    }

    package init?(argument: String) {
        duration = Duration(parsing: argument)
        guard argument == "forever" || duration != nil else { return nil }
    }

    package var defaultValueDescription: String { duration?.argument ?? "forever" }
}
