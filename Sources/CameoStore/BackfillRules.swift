package import CameoModel
package import Foundation

/// Decides what a source needs, from what the store has of it.
package struct BackfillRules: Sendable {
    /// What a source needs.
    package struct Verdict: Sendable {
        package var counts = BackfillCounts()
        /// The renditions to make.
        package var renditions: [Rendition] = []
        /// Thumbnails that no preset names. Empty unless every rendition exists, so that a site has something to show
        /// until the new renditions are made, and the store never forgets the source.
        package var unlisted: [ThumbnailID] = []
    }

    /// What a stored rendition is.
    private typealias Meaning = (rendition: Rendition, isListed: Bool)

    private let wanted: [Rendition]
    private let listed: Set<ExactText>
    private let rendererVersion: String?
    /// The version of what made the newest thumbnail of a video, as far as it is known.
    package var newestVideoVersion: String?
    /// A library has few different renditions.
    private var meanings: [ExactText: Meaning?] = [:]

    /// Every source is to have the wanted renditions; those of all presets are listed. Pictures are made with this version of
    /// the renderer; nil: any version will do.
    package init(wanted: [Rendition], listed: [Rendition], rendererVersion: String?) {
        self.wanted = wanted
        self.listed = Set((wanted + listed).map(Self.definition))
        self.rendererVersion = rendererVersion
    }

    private static func definition(_ rendition: Rendition) -> ExactText {
        ExactText(JSONValue.object(rendition.definition).canonicalText)
    }

    /// - Throws: `InvalidRequest` if the source is malformed.
    package mutating func verdict(on known: KnownSource) throws(InvalidRequest) -> Verdict {
        var verdict = Verdict()
        verdict.counts.sources = 1
        let identity = try SourceIdentity(of: known.source)
        let stored = Dictionary(known.thumbnails.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let ids = wanted.map { ThumbnailID(source: identity, scope: nil, rendition: $0) }
        if !ids.contains(where: { stored[$0] != nil }), isPrivate(known, identity) {
            verdict.counts.privateSources = 1
            return verdict
        }
        guard !known.isGone else {
            verdict.counts.goneSources = 1
            return verdict
        }
        var exist = true
        for (rendition, id) in zip(wanted, ids) {
            let thumbnail = stored[id]
            exist = exist && thumbnail?.isIntact == true
            let count = finding(thumbnail, rendition, known)
            verdict.counts[keyPath: count] += 1
            if count != \BackfillCounts.fresh { verdict.renditions.append(rendition) }
        }
        verdict.counts.jobs = verdict.renditions.isEmpty ? 0 : 1
        if exist {
            verdict.unlisted = known.thumbnails.filter { meaning(of: $0)?.isListed == false }.map(\.id)
            verdict.counts.unlisted = verdict.unlisted.count
        }
        return verdict
    }

    private mutating func finding(
        _ thumbnail: StoredThumbnail?,
        _ rendition: Rendition,
        _ known: KnownSource
    ) -> WritableKeyPath<BackfillCounts, Int> {
        guard let thumbnail else {
            let isChanged = known.thumbnails.contains { other in
                guard let meaning = meaning(of: other) else { return false }
                return !meaning.isListed && meaning.rendition.name == rendition.name
            }
            return isChanged ? \.changed : \.missing
        }
        guard thumbnail.isIntact else { return \.damaged }
        return isCurrent(thumbnail.rendererVersion) ? \.fresh : \.outdated
    }

    /// In the version of a video's thumbnail, that of `cameo-frames` follows. A worker learns it only with its first video, so
    /// what it is now is seen from the newest thumbnail of a video.
    private func isCurrent(_ version: String) -> Bool {
        guard let rendererVersion else { return true }
        let video = rendererVersion + " "
        guard version.hasPrefix(video) else { return version == rendererVersion }
        guard let newestVideoVersion, newestVideoVersion.hasPrefix(video) else { return true }
        return version == newestVideoVersion
    }

    /// Whether all thumbnails were requested with credentials, which are part of their ids. They are not stored, and
    /// without them the source would be another one.
    private mutating func isPrivate(_ known: KnownSource, _ identity: SourceIdentity) -> Bool {
        known.thumbnails.allSatisfy { thumbnail in
            guard let meaning = meaning(of: thumbnail) else { return true }
            return ThumbnailID(source: identity, scope: nil, rendition: meaning.rendition) != thumbnail.id
        }
    }

    /// Nil if the stored rendition is one of another version of Cameo.
    private mutating func meaning(of thumbnail: StoredThumbnail) -> Meaning? {
        let text = ExactText(thumbnail.rendition)
        if let known = meanings[text] { return known }
        let rendition = try? Rendition(json: JSONValue(parsing: thumbnail.rendition), at: "")
        let meaning = rendition.map { (rendition: $0, isListed: listed.contains(Self.definition($0))) }
        meanings[text] = .some(meaning)
        return meaning
    }
}

/// A source that the store has thumbnails of, as it is in their ids (`SourceIdentity`). One is gone if its bytes were in the
/// store, and are no longer: nothing can be made of it.
package typealias KnownSource = (source: String, isGone: Bool, thumbnails: [StoredThumbnail])

/// A thumbnail of a source, as far as a backfill looks at it: the rendition is in JSON, and an intact one's bytes are there.
package typealias StoredThumbnail = (id: ThumbnailID, rendition: String, rendererVersion: String, isIntact: Bool)

/// Selects sources that the store has thumbnails of.
package struct KnownSourceSelection: Hashable, Sendable {
    /// The beginning of the sources; nil: all.
    package var prefix: String?
    /// Only sources whose first thumbnail was made at this time or later.
    package var since: Date?
    /// Whether the bytes of every thumbnail are read and compared with their digest. Otherwise only their presence and
    /// size are checked.
    package var verifiesBytes = false
    /// Whether only the names are wanted, whenever their thumbnails were made: none of these is read.
    package var isOfNames = false

    package init() {}
}

/// Some of the selected sources, in the order of their UTF-8; the cursor of the next page, nil if this is the last one; and
/// the version of what made the newest thumbnail of any video, nil if there is none, and on all pages but the first.
package typealias KnownSourcePage = (sources: [KnownSource], next: String?, newestVideoVersion: String?)
