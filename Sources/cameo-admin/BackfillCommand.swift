internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct BackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill",
        abstract: "Make the renditions of presets that known sources lack, or that are out of date.",
        discussion: """
            Goes over the sources that have at least one thumbnail, and enqueues what is not as a preset says: \
            renditions that are missing, that exist under the same name but are now defined otherwise, that another \
            version of the renderer made (as the newest worker has it) or, of videos, of cameo-frames (as the newest \
            thumbnail of a video has it), or whose bytes are lost. What is fresh is left alone. \
            Sources are fetched as for any job; those that only requests with credentials have named are skipped, \
            because credentials are not kept, and so are uploads that are no longer in the store.

            The jobs are in the queue \(Backfill.queue), a background queue: they run when no other job waits, on at \
            most half of a worker, and only in its quiet hours if it has any. Interrupted or repeated, the command goes \
            on: jobs that already wait or run are not enqueued again. `cameo-admin cancel --queue \(Backfill.queue)` \
            cancels them. \(Duration.explanation)

            EXAMPLES
              cameo-admin backfill --preset gallery --dry-run
              cameo-admin backfill --preset gallery --preset social
              cameo-admin backfill --preset gallery --source https://shop.example/ --since 90d
              cameo-admin backfill --preset gallery --presets presets.json --remove-unlisted

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @OptionGroup var presets: PresetOptions

    @Option(help: "Only sources that start with this: https://shop.example/.".taking("prefix"))
    var source: String?

    @Option(
        help: """
            Only sources whose first thumbnail was made since: 2030-01-31T12:00:00Z, or so long ago (90d).
            """.taking("time")
    )
    var since: String?

    @Flag(
        help: "Read the bytes of all thumbnails and compare them with their digests, not only their presence and size."
    )
    var verify = false

    @Flag(
        help: """
            Remove the thumbnails that no preset names, neither a built-in one nor one of the file: of each source \
            once it has all renditions, so that a second run removes what the first has replaced.
            """
    )
    var removeUnlisted = false

    @Flag(help: "Count without changing anything.")
    var dryRun = false

    @Flag(
        help: """
            Print JSON: {"sources":…,"privateSources":…,"goneSources":…,"fresh":…,"missing":…,"changed":…,"outdated":…,\
            "damaged":…,"jobs":…,"enqueued":…,"unlisted":…,"removed":…}, with "etaSeconds":… if workers have ended jobs \
            lately; jobs counts those needed.
            """
    )
    var json = false

    func validate() throws {
        guard !presets.preset.isEmpty else { throw ValidationError("name the --preset whose renditions to make") }
        guard source != "" else { throw ValidationError("--source: must not be empty") }
        _ = try PastTime.date(since, of: "--since")
    }

    func run() async throws {
        let (wanted, listed) = try renditions()
        let store: any Store = try dryRun ? storeOptions.openReading() : storeOptions.open(creating: false)
        defer { store.close() }
        let status = try await store.status()
        let version = status.workers.last { $0.isAlive && $0.rendererVersion != nil }?.rendererVersion
        if version == nil {
            Output.error(
                "cameo-admin: no worker is alive, so that the renderer's version is unknown: no rendition counts as outdated"
            )
        }
        var selection = KnownSourceSelection()
        let since = try PastTime.date(since, of: "--since")
        (selection.prefix, selection.since, selection.verifiesBytes) = (source, since, verify)
        let rules = BackfillRules(wanted: wanted, listed: listed, rendererVersion: version)
        let backfill = Backfill(in: store, of: selection, by: rules)
        let survey = try await survey(backfill, thumbnails: status.thumbnails)
        let eta = survey.jobs > 0 ? status.backgroundRate.map { Double(survey.jobs) / $0 } : nil
        if !json { describe(survey) }
        guard !dryRun else { return try tell(survey, eta) }
        try tell(try await run(backfill, survey), eta)
    }

    /// The renditions of the presets named, and those of all presets.
    private func renditions() throws -> (wanted: [Rendition], listed: [Rendition]) {
        let file = try presets.load()
        let wanted = try file.renditions(of: presets.preset)
        try PresetOptions.requireDistinctNames(of: wanted)
        guard wanted.count <= ThumbnailRequest.maximumRenditions else {
            throw ValidationError(
                "--preset: \(wanted.count) renditions are more than the \(ThumbnailRequest.maximumRenditions) of a job"
            )
        }
        return (wanted.map(\.0), file.all.flatMap(\.renditions))
    }

    private func survey(_ backfill: Backfill, thumbnails: Int) async throws -> BackfillCounts {
        let bar = ProgressBar()
        defer { bar.finish() }
        return try await backfill.survey { counts in
            // How many sources there are is known when they have been counted.
            bar.show(done: counts.sources, of: max(counts.sources, thumbnails), note: "counting sources")
        }
    }

    private func run(_ backfill: Backfill, _ survey: BackfillCounts) async throws -> BackfillCounts {
        guard survey.jobs > 0 || (removeUnlisted && survey.unlisted > 0) else { return survey }
        let bar = ProgressBar()
        defer { bar.finish() }
        return try await backfill.run(unlisted: removeUnlisted ? .removed : .kept) { counts in
            bar.show(done: counts.sources, of: max(survey.sources, counts.sources))
        }
    }

    private func describe(_ counts: BackfillCounts) {
        let skipped = [
            counts.privateSources > 0 ? "\(counts.privateSources) private" : nil,
            counts.goneSources > 0 ? "\(counts.goneSources) no longer in the store" : nil,
        ]
        .compactMap { $0 }
        Output.line(
            AmountText.count(counts.sources, "source")
                + (skipped.isEmpty ? "" : " (\(skipped.joined(separator: ", ")))")
                + ": \(AmountText.count(counts.fresh, "rendition")) fresh, \(counts.missing) missing, "
                + "\(counts.changed) changed, \(counts.outdated) of another renderer, \(counts.damaged) damaged"
        )
    }

    private func tell(_ counts: BackfillCounts, _ eta: Double?) throws {
        let enqueued = dryRun ? 0 : counts.jobs - counts.joined
        guard !json else {
            let numbers = [
                "sources": counts.sources, "privateSources": counts.privateSources, "goneSources": counts.goneSources,
                "fresh": counts.fresh, "missing": counts.missing, "changed": counts.changed,
                "outdated": counts.outdated, "damaged": counts.damaged, "jobs": counts.jobs, "enqueued": enqueued,
                "unlisted": counts.unlisted, "removed": counts.removed,
            ]
            var members = numbers.mapValues { JSONValue.integer(Int64($0)) }
            members["etaSeconds"] = eta.map(JSONValue.number)
            return try Output.message(members)
        }
        let time = eta.map { ", about \(AmountText.duration($0)) of work, as jobs have gone lately" } ?? ""
        var parts = [
            dryRun
                ? "\(AmountText.count(counts.jobs, "job")) would be enqueued\(time)"
                : "\(AmountText.count(enqueued, "job")) enqueued, \(counts.joined) already waiting\(time)"
        ]
        if removeUnlisted {
            let thumbnails = AmountText.count(dryRun ? counts.unlisted : counts.removed, "thumbnail")
            parts.append("\(thumbnails) that no preset names \(dryRun ? "would be removed" : "removed")")
        }
        Output.lines(parts)
    }
}
