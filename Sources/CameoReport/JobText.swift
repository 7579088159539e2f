package import CameoModel
internal import Foundation

/// A job, for people to read on a terminal.
package enum JobText {
    /// Everything that is known about the job. `escape` makes text from outside safe to show.
    package static func lines(_ job: Job, escape: (String) -> String) -> [String] {
        var lines = [
            "job \(job.id): \(job.state.rawValue)",
            "  source      \(escape(job.source.map(SourceName.of) ?? "(none)"))",
            "  queue       \(escape(job.queue)), priority \(job.priority)"
                + (job.batch.map { ", batch \(escape($0))" } ?? ""),
            "  attempts    \(job.attempt) of \(job.maxAttempts)"
                + (job.crashCount > 0 ? ", \(AmountText.count(job.crashCount, "crash", plural: "crashes"))" : ""),
            "  created     \(WireFormat.text(of: job.createdAt))",
            "  due         \(WireFormat.text(of: job.availableAt))",
        ]
        if let finalizedAt = job.finalizedAt { lines.append("  ended       \(WireFormat.text(of: finalizedAt))") }
        if let worker = job.worker { lines.append("  worker      \(escape(worker))") }
        if let failure = job.failure {
            lines.append(
                "  failure     \(failure.code.rawValue) (\(failure.stage.rawValue)): \(escape(failure.message))"
            )
        }
        // What the thumbnails were made of, without repetition: another job may have replaced some of them with ones of a
        // newer picture.
        var seen: Set<String> = []
        for picture in job.thumbnails.compactMap(PictureText.source) where seen.insert(picture).inserted {
            lines.append("  picture     \(escape(picture))")
        }
        for thumbnail in job.thumbnails {
            let made = PictureText.thumbnail(thumbnail).map { "  \(escape($0))" } ?? ""
            lines.append("  thumbnail   \(escape(thumbnail.name))  \(thumbnail.uri)\(made)")
        }
        for attempt in job.attempts ?? [] { lines.append(line(attempt, escape: escape)) }
        return lines
    }

    private static func line(_ attempt: JobAttempt, escape: (String) -> String) -> String {
        var line =
            "  try \(attempt.number)       \(WireFormat.text(of: attempt.startedAt))  \(attempt.outcome.rawValue)"
        if let end = attempt.finishedAt {
            line += " after \(AmountText.duration(max(0, end.timeIntervalSince(attempt.startedAt))))"
        }
        let steps = [
            ("throttled", attempt.throttledMilliseconds), ("fetch", attempt.fetchMilliseconds),
            ("queue", attempt.queueMilliseconds), ("render", attempt.renderMilliseconds),
            ("store", attempt.storeMilliseconds), ("cpu", attempt.cpuMilliseconds),
        ]
        let times = steps.compactMap { name, time in time.map { "\(name) \($0) ms" } }
        if !times.isEmpty { line += "  " + times.joined(separator: ", ") }
        if let transfer = attempt.transfer {
            let total = transfer.totalBytes.map { " of \(AmountText.bytes($0))" } ?? ""
            line += "  received \(AmountText.bytes(transfer.receivedBytes))\(total)"
        }
        if let failure = attempt.failure { line += "  \(failure.code.rawValue): \(escape(failure.message))" }
        return line
    }
}

/// The progress of a batch, for people to read on a terminal.
package enum BatchText {
    /// The lines of the report. `escape` makes text from outside safe to show.
    package static func lines(_ report: BatchReport, escape: (String) -> String) -> [String] {
        let share = Int(100 * Double(report.finished) / Double(max(1, report.total)))
        var lines = [
            "batch \(escape(report.name)): \(report.finished) of \(AmountText.count(report.total, "job")) "
                + "\(report.finished == 1 ? "has" : "have") ended (\(share) %)"
        ]
        for state in JobState.allCases where report.count(state) > 0 {
            lines.append("  " + state.rawValue.padded(to: 12) + String(report.count(state)).leftPadded(to: 10))
        }
        for failure in report.failures {
            lines.append("  " + failure.code.rawValue.padded(to: 24) + "\(failure.count) discarded")
        }
        if !report.isFinished {
            let rest = report.secondsLeft.map { ", about \(AmountText.duration($0)) left" } ?? ""
            lines.append("last minute: \(report.finishedLastMinute) ended\(rest)")
        }
        if let sealedAt = report.sealedAt {
            lines.append("sealed \(WireFormat.text(of: sealedAt)): it ends once none of its jobs is left")
        }
        if let end = report.end {
            let hook = end.hook.map { ", for the hook \(escape($0))" } ?? ""
            lines.append("ended \(WireFormat.text(of: end.endedAt)) (end \(end.number))\(hook)")
        }
        return lines
    }
}

/// Facts about sources and thumbnails, for people to read.
enum PictureText {
    /// `4032x3024 JPEG`, followed by what is unusual: alpha, several frames or pages, truncation. Nil for a thumbnail whose
    /// source is not known.
    static func source(of thumbnail: RequestedThumbnail) -> String? {
        guard let source = thumbnail.source else { return nil }
        var words = [
            "\(source.width)x\(source.height) \(PictureFormat(rawValue: source.format)?.name ?? source.format)"
        ]
        if source.hasAlpha { words.append("alpha") }
        if source.pages > 1 { words.append("\(source.pages) \(source.isAnimated ? "frames" : "pages")") }
        if thumbnail.truncated == true { words.append("truncated") }
        if let omitted = thumbnail.source?.omitted { words.append("without \(omitted.joined(separator: ", "))") }
        return words.joined(separator: ", ")
    }

    /// `64x48 webp, alpha, 1.2 KiB, #a1b2c3`; nil for a thumbnail that does not exist yet.
    static func thumbnail(_ thumbnail: RequestedThumbnail) -> String? {
        shape(of: thumbnail).map { [$0, thumbnail.dominantColor].compactMap(\.self).joined(separator: ", ") }
    }

    /// The same without the colour.
    static func shape(of thumbnail: RequestedThumbnail) -> String? {
        guard let width = thumbnail.width, let height = thumbnail.height, let format = thumbnail.format else {
            return nil
        }
        var words = ["\(width)x\(height) \(format)"]
        if thumbnail.hasAlpha == true { words.append("alpha") }
        if let frames = thumbnail.frames, frames > 1 { words.append("\(frames) frames") }
        words.append(AmountText.bytes(thumbnail.bytes ?? 0))
        return words.joined(separator: ", ")
    }
}
