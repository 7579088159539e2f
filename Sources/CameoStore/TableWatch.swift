// DESIGN. What changes in another program's database wakes nobody here. Its number of commits is cheap to read, so whoever
// follows it reads it twenty times a second, and moves what was noted when it has changed. Several processes may do that for one
// database: the store passes over changes that it has. Rows of its mirror that wait for something are looked up four times a second.

/// Follows the attached tables that are in other databases.
package actor TableWatch {
    /// What there is to tell of an attachment, by its name.
    package enum Event: Sendable {
        /// So many changes are in the store, perhaps none.
        case moved(String, changes: Int)
        /// It cannot be followed at present, or, without a name, the store does not tell what is attached; said once for a reason.
        case refused(String?, any Error)
    }

    private struct Watched {
        var follower: TableFollower
        var version: Int64?
        /// Where the walk over the rows that wait goes on.
        var cursor: String?
    }

    private let store: any Store
    private let open: @Sendable (String) throws(StoreError) -> any FollowedDatabase
    /// The only database that is followed; nil: all.
    private let place: String?
    private let tell: @Sendable (Event) -> Void
    private var watched: [String: Watched] = [:]
    private var refused: [String?: String] = [:]
    private var turns = 0
    /// The turns from one look at the mirrors to the next, from one at the attachments, and from one time that this is noted.
    private static let (show, look, note) = (5, 40, 600)

    package init(
        of store: any Store,
        in place: String? = nil,
        open: @escaping @Sendable (String) throws(StoreError) -> any FollowedDatabase,
        tell: @escaping @Sendable (Event) -> Void
    ) {
        (self.store, self.place, self.open, self.tell) = (store, place, open, tell)
    }

    /// Follows them until the task is cancelled.
    package func run(sleep: @Sendable (Duration) async throws -> Void) async {
        repeat { await turn() } while (try? await sleep(watched.isEmpty ? .seconds(2) : .milliseconds(50))) != nil
    }

    private func turn() async {
        if watched.isEmpty || turns.isMultiple(of: Self.look) { await look() }
        let shows = turns.isMultiple(of: Self.show)
        turns += 1
        for name in watched.keys.sorted() {
            do { try await turn(name, shows: shows) } catch {
                refuse(name, error)
                watched[name] = nil
            }
        }
    }

    /// Moves what was noted and shows all that there is to show.
    package func finish() async {
        await look()
        for name in watched.keys.sorted() {
            do {
                try await turn(name, shows: true)
                while watched[name]?.cursor != nil { try await turn(name, shows: true) }
            } catch {
                refuse(name, error)
            }
        }
    }

    private func turn(_ name: String, shows: Bool) async throws {
        guard let one = watched[name] else { return }
        let version = try await one.follower.database.version()
        if version != one.version { tell(.moved(name, changes: try await one.follower.move())) }
        let cursor = shows ? try await one.follower.showUnfinished(after: one.cursor) : one.cursor
        // The version before the move: what came meanwhile is moved the next time.
        watched[name]?.version = version
        watched[name]?.cursor = cursor
    }

    /// Opens the databases of new attachments, and tells the store which are looked at.
    private func look() async {
        do {
            let attachments = try await store.attachments().filter { place == nil || $0.place == place }
            refused[nil] = nil
            let names = Set(attachments.map(\.name))
            watched = watched.filter { names.contains($0.key) }
            for attachment in attachments {
                guard let place = attachment.place else { continue }
                do {
                    let known = watched[attachment.name]?.follower
                    let database = known?.attachment.place == place ? known?.database : nil
                    let follower = TableFollower(attachment, in: try database ?? open(place), for: store)
                    if known == nil || turns.isMultiple(of: Self.note) {
                        let trouble = try await follower.database.trouble(of: attachment)
                        try await store.noteLook(at: attachment.name, trouble: trouble)
                    }
                    watched[attachment.name, default: Watched(follower: follower)].follower = follower
                    refused[attachment.name] = nil
                } catch {
                    refuse(attachment.name, error)
                }
            }
        } catch {
            refuse(nil, error)
        }
    }

    private func refuse(_ name: String?, _ error: any Error) {
        guard refused.updateValue("\(error)", forKey: name) != "\(error)", !(error is CancellationError) else { return }
        tell(.refused(name, error))
    }
}
