internal import ArgumentParser
package import CameoStore

/// For how long finished jobs and unread thumbnails are kept, for the commands that remove them.
package struct RetentionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long completed jobs stay, or forever. Their thumbnails stay.",
            valueName: "duration"
        )
    )
    var keepCompleted = KeepArgument(Retention().completed)

    @Option(help: ArgumentHelp("How long cancelled jobs stay.", valueName: "duration"))
    var keepCancelled = KeepArgument(Retention().cancelled)

    @Option(help: ArgumentHelp("How long discarded jobs stay.", valueName: "duration"))
    var keepDiscarded = KeepArgument(Retention().discarded)

    @Option(
        help: ArgumentHelp(
            "How long thumbnails stay that nobody reads or makes; at least "
                + "\(Retention.shortestForThumbnails.argument).",
            valueName: "duration"
        )
    )
    var keepThumbnails = KeepArgument(Retention().thumbnails)

    package init() {}

    package func validate() throws {
        let shortest = Retention.shortestForThumbnails
        guard let duration = keepThumbnails.duration, duration < shortest else { return }
        throw ValidationError(
            "--keep-thumbnails must be at least \(shortest.argument), not \(duration.argument): when a thumbnail was "
                + "last read is known to the hour"
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
    /// Nil: for ever.
    package let duration: Duration?

    package init(_ duration: Duration?) {
        self.duration = duration
    }

    package init?(argument: String) {
        if argument == "forever" {
            duration = nil
        } else {
            guard let duration = Duration(parsing: argument) else { return nil }
            self.duration = duration
        }
    }

    package var defaultValueDescription: String { duration?.argument ?? "forever" }
}
