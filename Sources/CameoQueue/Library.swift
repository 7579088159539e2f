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
        var values: [(any SQLBindable)?] = []
        func place(_ value: some SQLBindable) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let source = dialect.searchedSource
        var (conditions, labels) = ([String](), [String]())
        for (kind, name) in [(LabelKind.request, filter.label), (.batch, filter.batch)] {
            guard let name else { continue }
            let table = "label_\(labels.count)"
            labels.append("JOIN thumbnail_label AS \(table) ON \(table).thumbnail = thumbnail.id")
            let find = "SELECT id FROM label WHERE kind = \(kind.rawValue) AND name = \(place(name))"
            conditions.append("\(table).label = (\(find))")
        }
        if let digest = filter.sourceDigest { conditions.append("source_digest = \(place(digest))") }
        if let name = filter.source {
            let searched = dialect.searched((try? SourceIdentity(of: name))?.text ?? name)
            let whole = place(searched)
            let isWhole = "thumbnail.\(dialect.wholeSource) = \(whole)"
            conditions.append("\(source) = \(dialect.beginning(of: whole)) AND \(isWhole)")
        }
        if let prefix = filter.sourcePrefix {
            let end = prefix + "\u{10FFFF}"
            conditions.append("\(source) >= \(place(prefix)) AND \(source) < \(place(end))")
        }
        if let since = filter.since?.milliseconds {
            // Whatever was made then was used then, which the index has.
            let limit = place(since)
            conditions.append("thumbnail.updated_at >= \(limit) AND used_at >= \(limit)")
        }
        // Those of one label, picture or source are listed by id, those of some sources by these, and others by their last use.
        let areOfOne = !labels.isEmpty || filter.sourceDigest != nil || filter.source != nil
        let order = areOfOne ? nil : filter.sourcePrefix == nil ? "used_at" : source
        let key = labels.isEmpty ? "thumbnail.id" : "label_0.thumbnail"
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
                let value: String = isNewestFirst ? place(try found["key"] as Int64) : place(try found["key"] as String)
                conditions.append("(\(order), \(key)) \(isNewestFirst ? "<" : ">") (\(value), \(place(last.text)))")
            } else {
                conditions.append("\(key) > \(place(last.text))")
            }
        }
        let direction = isNewestFirst ? " DESC" : ""
        let sorted = ([order].compactMap(\.self) + [key]).map { $0 + direction }.list
        let joined = labels.isEmpty ? "" : labels.joined(separator: " ")
        let met = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let ids: [String] = try column(
            "SELECT thumbnail.id FROM shown_thumbnail AS thumbnail \(joined) \(met) ORDER BY \(sorted) LIMIT \(place(limit))",
            values
        )
        return ids.compactMap { ThumbnailID($0) }
    }
}
