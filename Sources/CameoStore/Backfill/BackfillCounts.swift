/// What a backfill has found and done.
package struct BackfillCounts: Hashable, Sendable {
    /// The sources looked at.
    package var sources = 0
    /// Sources that only requests with credentials have named, which are not kept.
    package var privateSources = 0
    /// Sources whose bytes were in the store, and are no longer.
    package var goneSources = 0

    /// Renditions of all other sources that are as they should be.
    package var fresh = 0
    /// Renditions that have never been made, or have been removed.
    package var missing = 0
    /// Renditions that exist under the same name, but defined otherwise.
    package var changed = 0
    /// Renditions that another version of the renderer has made.
    package var outdated = 0
    /// Renditions whose bytes are lost or damaged.
    package var damaged = 0

    /// The jobs that these renditions need.
    package var jobs = 0
    /// Jobs that were waiting or running already; counted when jobs are enqueued.
    package var joined = 0
    /// Thumbnails that no preset names, of sources whose renditions all exist.
    package var unlisted = 0
    /// Those of them that were removed.
    package var removed = 0

    package init() {}

    package static func += (total: inout BackfillCounts, more: BackfillCounts) {
        total.sources += more.sources
        total.privateSources += more.privateSources
        total.goneSources += more.goneSources
        total.fresh += more.fresh
        total.missing += more.missing
        total.changed += more.changed
        total.outdated += more.outdated
        total.damaged += more.damaged
        total.jobs += more.jobs
        total.joined += more.joined
        total.unlisted += more.unlisted
        total.removed += more.removed
    }
}
