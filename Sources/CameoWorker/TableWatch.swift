internal import CameoModel
package import CameoStore
package import Logging

// DESIGN. What changes in another program's database wakes nobody here. Its number of commits is cheap to read, so a worker reads
// it twenty times a second, and moves what was noted when it has changed. Several workers may do that for one database: the store
// passes over changes that it has. Rows of its mirror that wait for something are looked up four times a second.

/// Follows the attached tables that are in other databases.
package actor TableWatch {
    private struct Watched {
        var follower: TableFollower
        var version: Int64?
        /// Where the walk over the rows that wait goes on.
        var cursor: String?
    }

    private let store: any Store
    private let open: @Sendable (String) throws(StoreError) -> any FollowedDatabase
    private let logger: Logger
    private var watched: [String: Watched] = [:]
    private var refused: [String: String] = [:]
    private var turns = 0
    /// The turns from one look at the mirrors to the next, from one at the attachments, and from one time that this is noted.
    private static let (show, look, note) = (5, 40, 600)
    /// How long to wait for the next turn.
    var pause: Duration { watched.isEmpty ? .seconds(2) : .milliseconds(50) }

    package init(
        of store: any Store,
        logger: Logger,
        open: @escaping @Sendable (String) throws(StoreError) -> any FollowedDatabase
    ) {
        (self.store, self.logger, self.open) = (store, logger, open)
    }

    package func turn() async {
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

    /// Moves what was noted and shows all that there is to show, for a worker that begins or ends.
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
        if version != one.version { try await one.follower.move() }
        let cursor = shows ? try await one.follower.showUnfinished(after: one.cursor) : one.cursor
        // The version before the move: what came meanwhile is moved the next time.
        watched[name]?.version = version
        watched[name]?.cursor = cursor
    }

    /// Opens the databases of new attachments, and tells the store which are looked at.
    private func look() async {
        do {
            let attachments = try await store.attachments().filter { $0.place != nil }
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
            logger.debug("attachments cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func refuse(_ name: String, _ error: any Error) {
        guard refused.updateValue("\(error)", forKey: name) != "\(error)", !(error is CancellationError) else { return }
        logger.warning(
            "an attached table cannot be followed",
            metadata: ["attachment": "\(name)", "error": "\(error)"]
        )
    }
}
