package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. Jobs explain how thumbnails came to be, and are pruned. What is asked of a thumbnail whatever became of its job is
// kept by its id: the jobs that promise it, from their acceptance to their end, and the labels of the requests that named it.

extension Promise {
    // `?1` is the job.
    package static let insertion = """
        INSERT INTO promise(job_id, thumbnail) VALUES (?1, ?2)
        ON CONFLICT (job_id, thumbnail) DO UPDATE SET code = NULL, until = NULL
        """
    package static let removal = "DELETE FROM promise WHERE job_id = ?1"
    package static let breach = "UPDATE promise SET code = ?2, until = ?3 WHERE job_id = ?1"
}

/// Where a label comes from.
private enum LabelKind: Int { case request, batch }

extension QueueTransaction {
    /// Records that a job has ended, with or without what it promised.
    func keepPromise(of task: TaskRow, _ end: End) {
        if end.state == .discarded, let failure = end.failure {
            ledger.broken.append((task.id, failure.code.rawValue))
        } else {
            ledger.kept.append(task.id)
        }
    }

    /// Records that an accepted job will make what it asks for.
    func promise(_ job: Int64) throws {
        for wanted in try wanted(of: job) { try execute(Promise.insertion, [job, wanted.id.text]) }
    }

    /// What an accepted job asks for.
    func wanted(of job: Int64) throws -> [WantedThumbnail] {
        try WantedThumbnail.list(from: value("SELECT thumbnails FROM accepted WHERE id = ?1", [job]))
    }

    /// The job that will make a thumbnail or, if none will, the last that was to.
    package func promise(of id: ThumbnailID) throws -> Promise? {
        let look =
            "SELECT job_id, code FROM promise WHERE thumbnail = ?1 ORDER BY code IS NOT NULL, job_id DESC LIMIT 1"
        return try row(look, [id.text]).map { row in
            let code: String? = try row["code"]
            return Promise(job: try row["job_id"], code: code.map { JobFailure.Code(rawValue: $0) ?? .unknown })
        }
    }

    // MARK: - Labels

    /// Adds what requests say to their thumbnails. A request without labels is noted only where others have some: most stores
    /// have none.
    package func label(_ named: [(request: ThumbnailRequest, thumbnails: [ThumbnailID])]) throws {
        if named.allSatisfy({ $0.request.batch == nil && $0.request.labels.isEmpty }), try !hasLabels() { return }
        var (labelled, others) = ([String](), [String]())
        var names: [LabelKind: [ExactText: [String]]] = [:]
        for (request, thumbnails) in named {
            let ids = thumbnails.map(\.text)
            if let batch = request.batch { names[.batch, default: [:]][ExactText(batch), default: []] += ids }
            for label in request.labels { names[.request, default: [:]][ExactText(label), default: []] += ids }
            if request.labels.isEmpty { others += ids } else { labelled += ids }
        }
        let isLabelled = """
            EXISTS (SELECT 1 FROM thumbnail_label JOIN label ON label.id = thumbnail_label.label
              WHERE thumbnail_label.thumbnail = named.id AND kind = \(LabelKind.request.rawValue))
            """
        if !labelled.isEmpty {
            // Without a label until now, it may have been named by a request that had none.
            let isNamed = """
                NOT \(isLabelled) AND (EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = named.id)
                  OR EXISTS (SELECT 1 FROM promise WHERE promise.thumbnail = named.id))
                """
            try add(Self.unlabelled, to: labelled, where: isNamed)
            ledger.hasLabels = true
        }
        // In the same order in every transaction, which locks what it adds until its end.
        for (kind, names) in names.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for (name, ids) in names.sorted(by: { $0.key.text < $1.key.text }) {
                try add(try label(kind, name.text), to: ids)
            }
        }
        if !others.isEmpty, try hasLabels() { try add(Self.unlabelled, to: others, where: isLabelled) }
    }

    private func hasLabels() throws -> Bool {
        if let known = ledger.hasLabels { return known }
        let known = try value("SELECT EXISTS (SELECT 1 FROM label WHERE kind = \(LabelKind.request.rawValue))") ?? false
        ledger.hasLabels = known
        return known
    }

    /// Stands for a request without labels.
    private static var unlabelled: Int64 { 0 }

    private func add(_ label: Int64, to thumbnails: [String], where condition: String = "true") throws {
        let named = "(SELECT id FROM \(dialect.elements("?1", .texts))) AS named"
        let addition = "INSERT INTO thumbnail_label SELECT named.id, ?2 FROM \(named) WHERE \(condition)"
        try execute("\(addition) ON CONFLICT DO NOTHING", [thumbnails.sorted(), label])
    }

    /// Finds or creates a label.
    private func label(_ kind: LabelKind, _ name: String) throws -> Int64 {
        let find = "SELECT id FROM label WHERE kind = ?1 AND name = ?2"
        if let known: Int64 = try value(find, [kind.rawValue, name]) { return known }
        let insertion = "INSERT INTO label(kind, name) VALUES (?1, ?2) ON CONFLICT (kind, name) DO NOTHING"
        try execute(insertion, [kind.rawValue, name])
        guard let new: Int64 = try value(find, [kind.rawValue, name]) else {
            throw StoreError.failed("the label \(name) was removed")
        }
        return new
    }

    /// Removes the labels of thumbnails that were removed.
    func removeLabels(of thumbnails: [String]) throws {
        let isOne = "thumbnail \(dialect.isIn("?1", .texts))"
        let isGone = "NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = thumbnail_label.thumbnail)"
        let isUnpromised = "NOT EXISTS (SELECT 1 FROM promise WHERE promise.thumbnail = thumbnail_label.thumbnail)"
        try execute("DELETE FROM thumbnail_label WHERE \(isOne) AND \(isGone) AND \(isUnpromised)", [thumbnails])
    }
}

// MARK: - Facts

extension QueueTransaction {
    /// What is known of those of these thumbnails that exist, in their order.
    package func facts(of ids: [ThumbnailID]) throws -> [ThumbnailFacts] {
        let texts = ids.map(\.text)
        let labels = Dictionary(
            grouping: try query(
                "SELECT id, label FROM thumbnail_labels WHERE id \(dialect.isIn("?1", .texts))",
                [texts]
            )
            .map { (id: try $0["id"] as String, label: try $0["label"] as String) },
            by: \.id
        )
        let found = try thumbnails(
            whoseID: dialect.isIn("?1", .texts),
            texts,
            and: """
                , media_type, shown_source, \(dialect.text("shown_rendition")) AS shown_rendition, source_size,
                thumbnail.created_at AS made_at, (SELECT job.id FROM job WHERE job.id = thumbnail.job_id) AS job
                """
        ) { thumbnail, row in
            let rendition: String = try row["shown_rendition"]
            return ThumbnailFacts(
                thumbnail,
                type: try row["media_type"] ?? thumbnail.format.mediaType ?? "",
                source: try row["shown_source"],
                sourceBytes: try row["source_size"],
                rendition: try JSONValue(parsing: rendition.utf8),
                createdAt: Date(milliseconds: try row["made_at"]),
                job: try row["job"],
                labels: (labels[thumbnail.id.text] ?? []).map(\.label).sorted()
            )
        }
        let facts = Dictionary(found.map { ($0.thumbnail.uri, $0) }) { first, _ in first }
        return ids.compactMap { facts[.thumbnail($0)] }
    }

    /// A page of thumbnails, after the last one of the page before.
    package func thumbnails(where filter: ThumbnailFilter, after last: ThumbnailID?, limit: Int) throws -> [ThumbnailID]
    {
        var wanted = try ThumbnailConditions(filter, self)
        let joined = wanted.labels.indices.map { number in
            "JOIN thumbnail_label AS label_\(number) ON label_\(number).thumbnail = thumbnail.id"
        }
        wanted.terms += wanted.labels.enumerated().map { "label_\($0).label = \($1)" }
        // Those of one label, picture or source are listed by id, those of some sources by these, and others by their last use.
        let areOfOne =
            !joined.isEmpty || filter.sourceDigest != nil || filter.sameAs != nil || filter.source != nil
            || filter.sibling != nil
        let source = dialect.searchedSource
        let order = areOfOne ? nil : filter.sourcePrefix == nil ? "used_at" : source
        let key = joined.isEmpty ? "thumbnail.id" : "label_0.thumbnail"
        let isNewestFirst = order == "used_at"
        if let last {
            if let order {
                let found = try row(
                    "SELECT \(order) AS key FROM shown_thumbnail AS thumbnail WHERE id = ?1",
                    [last.text]
                )
                guard let found else {
                    throw StoreError.refused(reason: "the thumbnail of the cursor is gone: begin anew")
                }
                let value: String =
                    isNewestFirst
                    ? wanted.place(try found["key"] as Int64) : wanted.place(try found["key"] as String)
                wanted.terms.append(
                    "(\(order), \(key)) \(isNewestFirst ? "<" : ">") (\(value), \(wanted.place(last.text)))"
                )
            } else {
                wanted.terms.append("\(key) > \(wanted.place(last.text))")
            }
        }
        let direction = isNewestFirst ? " DESC" : ""
        let sorted = ([order].compactMap(\.self) + [key]).map { $0 + direction }.list
        let ids: [String] = try column(
            """
            SELECT thumbnail.id FROM shown_thumbnail AS thumbnail \(joined.joined(separator: " ")) WHERE \(wanted.all)
            ORDER BY \(sorted) LIMIT \(wanted.place(limit))
            """,
            wanted.values
        )
        return ids.compactMap { ThumbnailID($0) }
    }

    /// A page of pictures: of each source with thumbnails that match the filter the last used one, the latest first.
    package func pictures(
        where filter: ThumbnailFilter,
        after last: PictureCursor?,
        limit: Int
    ) throws -> [PictureCursor] {
        var wanted = try ThumbnailConditions(filter, self)
        let (source, whole) = (dialect.searchedSource, "thumbnail.\(dialect.wholeSource)")
        let times = "(thumbnail.used_at, thumbnail.updated_at, thumbnail.id)"
        var later = wanted
        // Asked of each row: were it a list, all of it would be gone through for each.
        later.terms += wanted.labels.map {
            "EXISTS (SELECT 1 FROM thumbnail_label WHERE thumbnail_label.thumbnail = thumbnail.id AND label = \($0))"
        }
        later.terms += [
            "\(source) = picture.source", "\(whole) = picture.whole",
            "\(times) > (picture.used_at, picture.updated_at, picture.id)",
        ]
        wanted.terms += wanted.labels.map {
            "thumbnail.id IN (SELECT thumbnail FROM thumbnail_label WHERE label = \($0))"
        }
        if let last {
            let (used, updated) = (wanted.place(last.usedAt), wanted.place(last.updatedAt))
            wanted.terms.append("\(times) < (\(used), \(updated), \(wanted.place(last.id.text)))")
        }
        return try query(
            """
            SELECT id, used_at, updated_at FROM (
              SELECT thumbnail.id AS id, used_at, updated_at, \(source) AS source, \(whole) AS whole
              FROM shown_thumbnail AS thumbnail WHERE \(wanted.all)) AS picture
            WHERE NOT EXISTS (SELECT 1 FROM shown_thumbnail AS thumbnail WHERE \(later.all))
            ORDER BY used_at DESC, updated_at DESC, id DESC LIMIT \(wanted.place(limit))
            """,
            wanted.values
        )
        .compactMap { row in
            let (used, updated): (Int64, Int64) = (try row["used_at"], try row["updated_at"])
            return ThumbnailID(try row["id"] as String).map { PictureCursor(usedAt: used, updatedAt: updated, id: $0) }
        }
    }
}

/// A filter of thumbnails as SQL conditions on `shown_thumbnail AS thumbnail`, and the places of their labels.
private struct ThumbnailConditions {
    var terms: [String] = []
    var labels: [String] = []
    private(set) var values: [(any SQLBindable)?] = []

    var all: String { terms.isEmpty ? "true" : terms.joined(separator: " AND ") }

    init(_ filter: ThumbnailFilter, _ db: some QueueTransaction) throws {
        let (dialect, source) = (db.dialect, db.dialect.searchedSource)
        for (kind, name) in [(LabelKind.request, filter.label), (.batch, filter.batch)] {
            guard let name else { continue }
            // By its number, for whose frequency a planner may have statistics. No label has a number below 0.
            let find = "SELECT id FROM label WHERE kind = ?1 AND name = ?2"
            labels.append(place(try db.value(find, [kind.rawValue, name]) ?? Int64(-1)))
        }
        if let digest = filter.sourceDigest { terms.append("source_digest = \(place(digest))") }
        func isOf(_ name: String) -> String {
            let whole = place(dialect.searched((try? SourceIdentity(of: name))?.text ?? name))
            return "\(source) = \(dialect.beginning(of: whole)) AND thumbnail.\(dialect.wholeSource) = \(whole)"
        }
        let digests = "SELECT source_digest FROM shown_thumbnail AS thumbnail"
        switch filter.sameAs {
        case .blob(let digest)?: terms.append("source_digest = \(place(digest.hex))")
        case .thumbnail(let id)?: terms.append("source_digest = (\(digests) WHERE thumbnail.id = \(place(id.text)))")
        case .source(let name)?: terms.append("source_digest IN (\(digests) WHERE \(isOf(name)))")
        case nil: break
        }
        if let name = filter.source { terms.append(isOf(name)) }
        if let sibling = filter.sibling?.text {
            let id = place(sibling)
            terms += [source, "thumbnail.\(dialect.wholeSource)"].map { column in
                "\(column) = (SELECT \(column) FROM shown_thumbnail AS thumbnail WHERE thumbnail.id = \(id))"
            }
        }
        if let prefix = filter.sourcePrefix {
            let end = prefix + "\u{10FFFF}"
            terms.append("\(source) >= \(place(prefix)) AND \(source) < \(place(end))")
        }
        if let part = filter.sourcePart {
            // Not LIKE, in which `_` and `%` are wildcards.
            let encoded = PercentEncoding.encoded(part.utf8, keeping: Array(":/?#[]@!$&'()*+,;=%".utf8))
            let parts = Set([part, encoded]).sorted().map { part in
                "lower(thumbnail.shown_source) <> replace(lower(thumbnail.shown_source), lower(\(place(part))), '')"
            }
            terms.append("(\(parts.joined(separator: " OR ")))")
        }
        if let since = filter.since?.milliseconds {
            // Whatever was made then was used then, which the index has.
            let limit = place(since)
            terms.append("thumbnail.updated_at >= \(limit) AND used_at >= \(limit)")
        }
    }

    mutating func place(_ value: some SQLBindable) -> String {
        values.append(value)
        return "?\(values.count)"
    }
}
