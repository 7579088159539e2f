internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

// DESIGN. The store is the memory of what was in a folder: what it has thumbnails of, and whose file is gone, was deleted or
// renamed, whether an event told of it or nobody watched. A disk that is not mounted leaves an empty folder, so what was in one
// does not count as deleted. Where the kernel told of each file, only the folder that was named must not be empty.

/// The sources in and below folders, by their absolute paths, whose files were deleted or renamed.
struct DeletedSources {
    let store: any ReaderStore & OperatorStore
    let roots: [[UInt8]]
    let options: FolderOptions
    let notices: FileNotices
    private static let slash = UInt8(ascii: "/")

    /// Compares the folders with the store, and forgets or reports what is gone.
    func compare() async throws { try await handle(roots.map(Self.inside)) }

    /// Throws if what is gone may not be forgotten here, before anything is enqueued.
    func checkRights() async throws {
        guard options.forgetDeleted else { return }
        do throws(StoreError) {
            _ = try await store.knownSources(KnownSourceSelection(), after: nil, limit: 1)
            _ = try await store.forgettable("file:///", .originals)
            if let none = ThumbnailID(String(repeating: "0", count: 32)) {
                _ = try await store.forgettable(ForgetSelector(.uri(none)))
            }
        } catch .denied(_, let reason) {
            throw CommandFailure("--forget-deleted needs the rights of an operator: \(reason)", .store)
        }
    }

    /// Forgets or reports what is gone of these files, and of what was below those paths that end with a slash.
    func handle(_ deleted: [[UInt8]]) async throws {
        do {
            try await forget(deleted)
        } catch StoreError.denied(_, let reason) where !options.forgetDeleted {
            Output.error("cameo-enqueue: what was deleted is not noticed: \(reason)")
        }
    }

    private func forget(_ deleted: [[UInt8]]) async throws {
        var (handled, kept, empty) = ([FileNotices.Notice](), [[UInt8]: Int](), [[UInt8]: Bool]())
        for beginning in deleted {
            guard let root = roots.first(where: { beginning.starts(with: Self.inside($0)) }) else { continue }
            for (source, path) in try await gone(beginning) {
                let folder = beginning == path ? root : Self.nearestFolder(above: path, root)
                let isEmpty = empty[folder] ?? PictureTree.isEmpty(folder)
                empty[folder] = isEmpty
                if isEmpty {
                    kept[folder, default: 0] += 1
                } else if options.forgetDeleted {
                    let forgotten = try await store.forgetSource(source, .originalsAndThumbnails)
                    handled.append((path, AmountText.count(forgotten.thumbnails, "thumbnail")))
                } else {
                    handled.append((path, "its thumbnails stay (--forget-deleted removes them)"))
                }
            }
        }
        try notices.tell(options.forgetDeleted ? .forgotten : .deleted, handled)
        let reason = "nothing is left in it, as if its disk were not mounted"
        try notices.tell(.kept, kept.map { ($0, "\(reason): \(AmountText.count($1, "source")) not forgotten") })
    }

    /// The known sources that are gone: of this path, or below it if it ends with a slash, but of no name with a dot in front.
    private func gone(_ beginning: [UInt8]) async throws -> [(source: String, path: [UInt8])] {
        let (isFolder, uri) = (beginning.last == Self.slash, FileURI(path: beginning).text)
        guard isFolder || Self.isGone(beginning) else { return [] }
        var (selection, gone, cursor) = (KnownSourceSelection(), [(String, [UInt8])](), String?.none)
        (selection.isOfNames, selection.prefix) = (true, isFolder && !uri.hasSuffix("/") ? uri + "/" : uri)
        repeat {
            // A file's own name is the first of those that begin with it.
            let page = try await store.knownSources(selection, after: cursor, limit: isFolder ? 1_000 : 1)
            for source in page.sources.map(\.source) where isFolder || source == uri {
                guard let path = try? FileURI(parsing: source).path, path.starts(with: beginning) else { continue }
                let names = path.dropFirst(beginning.count).split(separator: Self.slash)
                let isSeen = names.count <= 1 || options.depth == .everythingBelow
                if isSeen, !names.contains(where: { $0.first == UInt8(ascii: ".") }), Self.isGone(path) {
                    gone.append((source, path))
                }
            }
            cursor = isFolder ? page.next : nil
        } while cursor != nil
        return gone
    }

    private static func inside(_ folder: [UInt8]) -> [UInt8] { folder.last == slash ? folder : folder + [slash] }

    /// The nearest folder above a file that is there, at most the root.
    private static func nearestFolder(above file: [UInt8], _ root: [UInt8]) -> [UInt8] {
        var folder = file[...]
        repeat {
            folder = folder.prefix(upTo: folder.lastIndex(of: slash) ?? 0)
        } while folder.count > root.count && isGone(Array(folder))
        return folder.count > root.count ? Array(folder) : root
    }

    /// What cannot be looked at is not gone.
    private static func isGone(_ path: [UInt8]) -> Bool {
        var status = stat()
        return lstat(path.map(CChar.init(bitPattern:)) + [0], &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
}

/// What is said, on standard error, about files that are not enqueued: the first few of a kind, or as JSON all.
struct FileNotices {
    typealias Notice = (path: [UInt8], reason: String)
    enum Kind: String { case skipped, deleted, forgotten, kept }
    let areJSON: Bool
    private static let named = 20

    func tell(_ kind: Kind, _ notices: [Notice]) throws {
        for (path, reason) in areJSON ? notices[...] : notices.prefix(Self.named) {
            let message = ["file": FileURI(path: path).text, "reason": reason, "state": kind.rawValue]
            let text = "cameo-enqueue: \(kind.rawValue) \(SourceName.ofPath(path)): \(reason)"
            Output.error(areJSON ? String(decoding: try WireFormat.encode(message), as: UTF8.self) : text)
        }
        let rest = areJSON ? 0 : notices.count - Self.named
        if rest > 0 { Output.error("cameo-enqueue: \(kind.rawValue) \(rest) more (--json names all)") }
    }
}
