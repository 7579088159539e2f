package import Foundation

/// Selects sources that the store has thumbnails of.
package struct KnownSourceSelection: Hashable, Sendable {
    /// The beginning of the sources; nil: all.
    package var prefix: String?
    /// Only sources whose first thumbnail was made at this time or later.
    package var since: Date?
    /// Whether the bytes of every thumbnail are read and compared with their digest. Otherwise only their presence and
    /// size are checked.
    package var verifiesBytes = false

    package init() {}
}

/// Some of the selected sources, in the order of their UTF-8.
package struct KnownSourcePage: Sendable {
    package let sources: [KnownSource]
    /// The cursor of the next page; nil if this is the last one.
    package let next: String?
    /// The version of what made the newest thumbnail of any video; nil if there is none, and on all pages but the first.
    package let newestVideoVersion: String?

    package init(sources: [KnownSource], next: String?, newestVideoVersion: String? = nil) {
        self.sources = sources
        self.next = next
        self.newestVideoVersion = newestVideoVersion
    }
}
