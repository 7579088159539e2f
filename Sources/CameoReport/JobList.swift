package import CameoModel
package import Foundation

/// A list of jobs, for people to read on a terminal or in a spreadsheet.
package struct JobList {
    /// The most characters of a reason or source.
    private static let longest = 100

    private let jobs: [Job]

    package init(_ jobs: [Job]) {
        self.jobs = jobs
    }

    /// A heading and a line for each job, whose size is that of its thumbnails. `columns` is the terminal's width, nil for
    /// no limit. `escape` makes text from outside safe to show, in at most so many characters.
    package func lines(
        at now: Date,
        columns: Int? = nil,
        style: TextStyle = .plain,
        escape: (String, Int) -> String
    ) -> [String] {
        guard !jobs.isEmpty else { return [] }
        var table = TextTable(columns: [
            .number("JOB"), .word("STATE"), .number("TRIES"), .number("AGE"), .number("SIZE"), .text("REASON"),
            .path("SOURCE"),
        ])
        for job in jobs {
            let bytes = job.thumbnails.compactMap(\.bytes).reduce(0, +)
            table.rows.append([
                String(job.id), job.state.rawValue, "\(job.attempt)/\(job.maxAttempts)",
                AmountText.duration(max(0, now.timeIntervalSince(job.createdAt))),
                bytes > 0 ? AmountText.bytes(bytes) : "",
                job.failure.map { failure in
                    let reason = Self.reason(failure.message, of: job.source.map(SourceName.of))
                    return "\(escape(reason, Self.longest)) (\(failure.code.rawValue))"
                } ?? "",
                job.source.map { escape(Self.name(of: $0), .max) } ?? "(no source)",
            ])
        }
        return table.lines(fitting: columns, style)
    }

    /// A file by its path, and anything else by its URI.
    static func name(of source: String) -> String {
        let name = SourceName.of(source)
        return name.hasPrefix("file:///") ? String(name.dropFirst("file://".count)) : name
    }

    /// A failure's message without the readable name of the source that it begins with: another column has it.
    static func reason(_ message: String, of source: String?) -> String {
        guard let source, message.hasPrefix(source) else { return message }
        let rest = message.dropFirst(source.count)
        return [": ", " "].first(where: rest.hasPrefix).map { String(rest.dropFirst($0.count)) } ?? message
    }

    /// A record for each job, behind one of names (RFC 4180). `escape` makes text from outside safe to show; a file has it
    /// as it was given.
    package func csv(escape: (String) -> String = { $0 }) -> String {
        let names = [
            "id", "state", "queue", "batch", "attempt", "maxAttempts", "createdAt", "finalizedAt", "thumbnails",
            "bytes", "code", "message", "source",
        ]
        let records = jobs.map { job in
            let made = job.thumbnails.compactMap(\.bytes)
            return [
                String(job.id), job.state.rawValue, escape(job.queue), escape(job.batch ?? ""), String(job.attempt),
                String(job.maxAttempts), WireFormat.text(of: job.createdAt),
                job.finalizedAt.map(WireFormat.text(of:)) ?? "", String(made.count), String(made.reduce(0, +)),
                job.failure?.code.rawValue ?? "", escape(job.failure?.message ?? ""),
                escape(job.source ?? ""),
            ]
        }
        return ([names] + records).map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func field(_ text: String) -> String {
        let isPlain = !text.utf8.contains { [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D].contains($0) }
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }
}
