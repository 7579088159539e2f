/// Something that a worker's host cannot do and another's can: a format whose codec is not installed.
///
/// A worker says what its host lacks when it registers, and when a job shows it. A job that needs what a host lacks is
/// given back for another worker, and discarded as `render.formatUnavailable` once every live worker lacks it.
package enum HostLack: Hashable, Sendable, CustomStringConvertible {
    case reading(PictureFormat)
    case writing(Rendition.Format)

    /// Parses ``description``.
    package init?(_ text: String) {
        let words = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return nil }
        switch words[0] {
        case "read": self.init(PictureFormat(rawValue: words[1]).map(HostLack.reading))
        case "write": self.init(Rendition.Format(rawValue: words[1]).map(HostLack.writing))
        default: return nil
        }
    }

    private init?(_ lack: HostLack?) {
        guard let lack else { return nil }
        self = lack
    }

    /// As stores and JSON have it: `read:heif`, `write:avif`.
    package var description: String {
        switch self {
        case .reading(let format): "read:\(format.rawValue)"
        case .writing(let format): "write:\(format.rawValue)"
        }
    }

    /// For people: `write AVIF`.
    package var activity: String {
        switch self {
        case .reading(let format): "read \(format.name)"
        case .writing(let format): "write \(PictureFormat(rawValue: format.rawValue)?.name ?? format.rawValue)"
        }
    }

    /// The package of Debian 13 and Ubuntu 24.04 that brings what is lacking. Debian 12 has libheif's codecs in libheif
    /// itself. Nil: this libvips was built without the format.
    package var missingPackage: String? {
        switch self {
        case .reading(.heif): "libheif-plugin-libde265"
        case .reading(.avif): "libheif-plugin-dav1d"
        case .writing(.avif): "libheif-plugin-aomenc"
        case .reading, .writing: nil
        }
    }

    /// How to mend it, for people.
    package var remedy: String {
        missingPackage.map { "install \($0)" } ?? "install a libvips that was built with it"
    }
}

/// An attempt that needs what its host lacks: a matter of the host, not of the job.
package struct HostUnable: Error, Hashable, Sendable {
    package let lack: HostLack
    /// The source's name for messages.
    package let source: String

    package init(_ lack: HostLack, for source: String) {
        (self.lack, self.source) = (lack, source)
    }

    /// What becomes of the job, given what the others can do.
    ///
    /// - Parameter hosts: those of the live workers that take such jobs.
    /// - Returns: the failure of a job that no host can do; nil if one can.
    package func failure(on hosts: [(host: String, lacks: Bool)]) -> JobFailure? {
        guard hosts.allSatisfy(\.lacks) else { return nil }
        let names = Set(hosts.map(\.host)).sorted().joined(separator: ", ")
        let message = "\(source) needs a host that can \(lack.activity), but no worker's can (\(names)): \(lack.remedy)"
        return JobFailure(.renderFormatUnavailable, at: .render, message)
    }
}
