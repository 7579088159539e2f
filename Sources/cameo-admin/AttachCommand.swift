internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

extension AttachedKind: ExpressibleByArgument {}

/// A column of a table as it is typed: `app_users.picture`, `shop.users.picture`.
private struct ColumnArgument: ExpressibleByArgument {
    let table, column: String

    init?(argument: String) {
        guard let dot = argument.lastIndex(of: "."), dot != argument.startIndex else { return nil }
        (table, column) = (String(argument[..<dot]), String(argument[argument.index(after: dot)...]))
        if column.isEmpty { return nil }
    }
}

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Follow a column of a table of yours: its rows enqueue jobs and forget thumbnails by themselves.",
        discussion: """
            TABLE.COLUMN is a column with pictures of a table beside Cameo's: in a folder's cameo.sqlite one whose name begins \
            with app_, in PostgreSQL any table of the database that you own. From now on an INSERT, UPDATE or DELETE asks for \
            the thumbnails of its rows, or forgets them, in its own transaction. The rows that exist are read at once; their \
            jobs are in the background queue \(Backfill.queue). Interrupted, the command goes on where it was when it is \
            repeated; with other presets, all rows get other thumbnails.

            The view app_cameo_TABLE_COLUMN has for each row with a picture its key, state and failure, and the URI, width, \
            height, type, bytes and placeholder of each rendition (AVATAR_uri, AVATAR_width, …). A value that is no picture \
            fails no statement: its state is invalid, with the reason.

            EXAMPLES
              cameo-admin attach app_users.picture --key id --as url --preset avatar
              cameo-admin attach app_photos.file --key id --as path --base /srv/media --preset gallery
              cameo-admin attach users.picture --in app.sqlite --key id --as url --preset avatar
              cameo-admin attach --list
              cameo-admin attach --check users.picture
              cameo-admin attach --repair users.picture
              cameo-admin attach shop.users.picture --key id --as url --preset avatar --print > migration.sql

            EXIT CODES
              0 done, 1 --check found what --repair mends, or there is no such table or attachment, 2 bad usage, 4 the store \
            cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var presets: PresetOptions

    @Argument(help: ArgumentHelp("The column to follow.", valueName: "table.column"))
    private var column: ColumnArgument?

    @Option(help: "The column that names the rows: a primary key of one column.".taking("column"))
    var key: String?

    @Option(
        name: .customLong("as"),
        help: "What the column holds: url, path, bytes or cameo (cameo: URIs).".taking("kind")
    )
    var kind: AttachedKind?

    @Option(help: "Where relative values begin, and others must: a URL or a folder.".taking("url|folder"))
    var base: String?

    @Option(help: "A column whose values are a label of the row's thumbnails too.".taking("column"))
    var label: String?

    @Option(
        name: .customLong("in"),
        help:
            "The SQLite file that has the table, if the store does not: a worker that can write it moves what its rows ask for."
            .taking("app.sqlite"),
        completion: .file()
    )
    var place: String?

    @Option(help: "The queue of the jobs. (default: \(ThumbnailRequest.defaultQueue))".taking("name"))
    var queue: String?

    @Flag(help: "Print the statements for a migration, which may run any number of times, and change nothing.")
    var print = false

    @Flag(help: "List what is attached.")
    var list = false

    @Option(help: "Compare the rows of an attachment with what Cameo has.".taking("name"))
    var check: String?

    @Option(help: "Make triggers and view anew, look at every row, and mend what is missing.".taking("name"))
    var repair: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        let modes = [column != nil, list, check != nil, repair != nil].count { $0 }
        guard modes == 1 else { throw ValidationError("name a TABLE.COLUMN, or give --list, --check or --repair") }
        guard column != nil else {
            guard presets.preset.isEmpty, key == nil, kind == nil, base == nil, label == nil, queue == nil,
                place == nil, !print
            else {
                throw ValidationError("--list, --check and --repair take no other options than --json")
            }
            return
        }
        for (name, isGiven) in [("--key", key != nil), ("--as", kind != nil), ("--preset", !presets.preset.isEmpty)]
        where !isGiven { throw ValidationError("\(name) is missing") }
        guard place == nil || !print else {
            throw ValidationError("--print: only for a table in the store's database, without --in")
        }
        if let queue, !ThumbnailRequest.isLabel(queue) {
            throw ValidationError("--queue: must be 1 to 64 of a-z 0-9 . _ -, not \"\(queue)\"")
        }
        _ = try baseOfValues
    }

    /// With a slash at its end.
    private var baseOfValues: String {
        get throws {
            guard let base, let kind else { return "" }
            let isRight =
                switch kind {
                case .url: base.hasPrefix("https://") || base.hasPrefix("http://")
                case .path: base.hasPrefix("/")
                case .bytes, .cameo: false
                }
            guard isRight else {
                let needed = kind == .url ? "a URL" : "an absolute path"
                throw ValidationError(
                    kind == .url || kind == .path ? "--base: must be \(needed)" : "--base: only for --as url and path"
                )
            }
            return base.hasSuffix("/") ? base : "\(base)/"
        }
    }

    func run() async throws {
        let store = try storeOptions.open(creating: column != nil)
        defer { store.close() }
        if list { return try await tell(try await store.attachments()) }
        if let check { return try await compare(check, store) }
        if let repair {
            let follower = try await follower(of: repair, store)
            if let follower { try await follower.database.follow(follower.attachment) }
            try await store.mendAttachment(repair)
            return try await fill(repair, store, follower)
        }
        guard var wanted = try wanted() else { return }
        if let place {
            let database = try StoreOptions.open(others: place)
            guard database.path != store.folder.map({ "\($0)/cameo.sqlite" }) else {
                throw ValidationError("--in: the table is in the store itself: leave it out")
            }
            wanted.place = (database.path, try await database.table(wanted.table))
        }
        guard !print else { return Output.line(try await store.script(attaching: wanted)) }
        let attachment = try await store.attach(wanted)
        let follower = try await follower(of: attachment.name, store)
        try await follower?.database.follow(attachment)
        let shown = attachment.place == nil ? "view \(attachment.view)" : "table \(attachment.mirror)"
        if !json { Output.line("\(attachment.name): attached; the \(shown) shows what becomes of its rows") }
        if !attachment.isFilled { try await fill(attachment.name, store, follower) }
    }

    private func wanted() throws -> WantedAttachment? {
        guard let column, let key, let kind else { return nil }
        let renditions = try presets.load().renditions(of: presets.preset)
        try PresetOptions.requireDistinctNames(of: renditions)
        guard renditions.count <= ThumbnailRequest.maximumRenditions else {
            throw ValidationError(
                "--preset: \(renditions.count) renditions are more than the \(ThumbnailRequest.maximumRenditions) of a job"
            )
        }
        return WantedAttachment(
            table: column.table,
            column: column.column,
            key: key,
            kind: kind,
            base: try baseOfValues,
            label: label,
            queue: queue ?? ThumbnailRequest.defaultQueue,
            renditions: renditions.map(\.0)
        )
    }

    /// What follows an attachment whose table is in another database.
    private func follower(of name: String, _ store: any Store) async throws -> TableFollower? {
        guard let attachment = try await store.attachments().first(where: { $0.name == name }),
            let place = attachment.place
        else { return nil }
        return TableFollower(attachment, in: try StoreOptions.open(others: place), for: store)
    }

    private func fill(_ name: String, _ store: any Store, _ follower: TableFollower?) async throws {
        var rows = 0
        let bar = ProgressBar()
        defer { bar.finish() }
        try await follower?
            .fill { count in
                rows = count
                bar.show(done: rows, of: rows, note: "reading rows")
            }
        while follower == nil {
            let step = try await store.fillAttachment(name)
            rows += step.rows
            bar.show(done: rows, of: rows, note: "reading rows")
            if step.isLast { break }
            try Task.checkCancellation()
        }
        bar.finish()
        if json {
            let message: JSONValue = ["name": .string(name), "rows": .integer(Int64(rows))]
            try Output.message(message)
        } else {
            Output.line("\(name): \(AmountText.count(rows, "row")) read")
        }
    }

    private func compare(_ name: String, _ store: any Store) async throws {
        let bar = ProgressBar()
        let report: @Sendable (Int) -> Void = { rows in bar.show(done: rows, of: rows, note: "reading rows") }
        let follower = try await follower(of: name, store)
        let counts: AttachmentCounts
        if let follower {
            counts = try await follower.compare(report: report)
        } else {
            counts = try await store.compareAttachment(name, report: report)
        }
        bar.finish()
        if json {
            try Output.message(counts)
        } else {
            Output.line(
                "\(name): \(AmountText.count(counts.rows, "row")) with a picture; \(counts.missing) missing, \(counts.stale) stale, "
                    + "\(counts.orphaned) orphaned, \(counts.lost) without their thumbnails; \(counts.waiting) waiting, "
                    + "\(counts.failed) failed, \(counts.invalid) invalid"
            )
        }
        if counts.needsRepair { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ attachments: [Attachment]) async throws {
        for attachment in attachments {
            if json {
                try Output.message(attachment.json)
                continue
            }
            let names = attachment.renditions.map(\.name).joined(separator: ", ")
            Output.line(
                "\(attachment.name)\t\(attachment.table) by \(attachment.key), as \(attachment.kind.rawValue): \(names); "
                    + "view \(attachment.view)" + (attachment.isFilled ? "" : "; its rows are not all read yet")
                    + (attachment.trouble.map { "; not followed: \($0)" } ?? "")
            )
        }
    }
}

struct DetachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach",
        abstract: "Follow a column no more, before it is dropped for example.",
        discussion: """
            Removes the triggers and the view that `cameo-admin attach` made. The thumbnails stay, unless --forget is given.

            EXAMPLES
              cameo-admin detach users.picture
              cameo-admin detach --forget users.picture

            EXIT CODES
              0 done, 1 nothing of that name is attached, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Remove the thumbnails that only its rows have.")
    var forget = false

    @Flag(help: "Print JSON: {\"name\":…,\"forgotten\":…}.")
    var json = false

    @Argument(help: "What `cameo-admin attach --list` calls it.")
    var name: String

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        defer { store.close() }
        let attachment = try await store.attachments().first { $0.name == name }
        if let attachment, let place = attachment.place {
            try await StoreOptions.open(others: place).unfollow(attachment)
        }
        try await store.detach(name, forgetting: forget)
        guard json else { return Output.line("\(name): detached") }
        let message: JSONValue = ["name": .string(name), "forgotten": .bool(forget)]
        try Output.message(message)
    }
}
