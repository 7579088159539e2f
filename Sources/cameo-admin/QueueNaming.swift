internal import ArgumentParser
internal import CameoModel
internal import CameoStore

/// Whether a command may create a queue that has had no job yet.
struct QueueNaming: ParsableArguments {
    /// The help of `--json` for commands that change one queue.
    static let helpOfJSON = ArgumentHelp("Print the queue after the change as JSON, as in a status-report.")

    @Flag(help: "Create the queue if it does not exist.")
    var create = false

    var unknown: UnknownQueue { create ? .created : .refused }

    /// Refuses to create a queue that no request could name.
    func check(_ queue: String) throws {
        guard create, !ThumbnailRequest.isLabel(queue) else { return }
        throw ValidationError("\(queue): must be 1 to 64 of a-z 0-9 . _ -")
    }
}
