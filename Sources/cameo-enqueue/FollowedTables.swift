internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Synchronization

/// Moves what the attached tables of another program's file ask for into a store, on a host without a worker for example.
struct Outbox {
    /// The file, as it was typed.
    let path: String
    let store: any Store
    let areJSON: Bool

    /// Once, or until the process is ended.
    func move(watching: Bool) async throws {
        let place = try StoreOptions.open(others: path).path
        guard try await store.attachments().contains(where: { $0.place == place }) else {
            let advice = "`cameo-admin attach TABLE.COLUMN --in \(path)` attaches one"
            throw CommandFailure(
                "--outbox \(path): none of its tables is attached to \(store.location): \(advice)",
                .usage
            )
        }
        let faults = Mutex(0)
        let watch = TableWatch(of: store, in: place, open: StoreOptions.open(others:)) { [areJSON, path] event in
            switch event {
            case .moved(_, changes: 0) where watching: break
            case .moved(let name, let changes):
                let message: JSONValue = ["name": .string(name), "changes": .integer(Int64(changes))]
                let text = "\(name): \(AmountText.count(changes, "change")) moved"
                Output.line(areJSON ? message.canonicalText : text)
            case .refused(let name, let error):
                faults.withLock { $0 += 1 }
                Output.error("cameo-enqueue: \(name ?? path): \(error)")
            }
        }
        if watching {
            Output.error("cameo-enqueue: watching \(path)")
            await watch.run { try await Task.sleep(for: $0) }
        } else {
            await watch.finish()
            if faults.withLock(\.self) > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
        }
    }
}

/// Says which tables are not followed any more, at once to whoever made one anew. Errors are left to what follows: who may only
/// enqueue does not see what is attached.
func warnOfUnfollowedTables(of store: any Store) async {
    for attachment in (try? await store.attachmentsAfterLook()) ?? [] {
        var trouble = attachment.trouble
        if trouble == nil, let place = attachment.place, let database = try? StoreOptions.open(others: place) {
            trouble = try? await database.trouble(of: attachment)
            if let trouble { try? await store.noteLook(at: attachment.name, trouble: trouble) }
        }
        guard let trouble else { continue }
        let advice = "`cameo-admin attach --repair \(attachment.name)` mends that"
        Output.error("cameo-enqueue: \(attachment.name) is not followed any more: \(trouble); \(advice)")
    }
}
