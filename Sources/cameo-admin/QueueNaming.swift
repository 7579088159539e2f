internal import ArgumentParser
internal import CameoModel
internal import CameoStore

/// How a queue is named that may have had no job so far.
struct QueueNaming: ParsableArguments {
    /// Of commands that change one queue.
    static let helpOfJSON = ArgumentHelp("Prints the queue as it then is, as the queues of a status-report (JSON).")

    @Flag(help: "Makes the queue if no job has named it so far.")
    var create = false

    var unknown: UnknownQueue { create ? .created : .refused }

    /// Refuses to make a queue that no request could name.
    func check(_ queue: String) throws {
        guard create, !ThumbnailRequest.isLabel(queue) else { return }
        throw ValidationError("\(queue): must be 1 to 64 of a-z 0-9 . _ -")
    }
}
