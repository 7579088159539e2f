/// Something that a worker's host cannot do and another's can: a format whose codec is not installed, or a folder that it has
/// not or may not read.
///
/// A worker says what its host lacks when it registers, and when a job shows it. A job that needs what a host lacks is
/// given back for another worker, and discarded once every live worker lacks it: as `render.formatUnavailable`, or with the
/// failure of the file.
package enum HostLack: Hashable, Sendable, CustomStringConvertible {
    case reading(PictureFormat)
    case writing(Rendition.Format)
    case files(in: FileURI)

    /// Parses ``description``.
    package init?(_ text: String) {
        let words = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return nil }
        let lack: HostLack? =
            switch words[0] {
            case "read": PictureFormat(rawValue: words[1]).map(HostLack.reading)
            case "write": Rendition.Format(rawValue: words[1]).map(HostLack.writing)
            case "file": (try? FileURI(parsing: text)).map(HostLack.files(in:))
            default: nil
            }
        guard let lack else { return nil }
        self = lack
    }

    /// As stores and JSON have it: `read:heif`, `write:avif`, `file:///folder`.
    package var description: String {
        switch self {
        case .reading(let format): "read:\(format.rawValue)"
        case .writing(let format): "write:\(format.rawValue)"
        case .files(let folder): folder.text
        }
    }

    /// For people: `write AVIF`.
    package var activity: String {
        switch self {
        case .reading(.video): "read videos"
        case .reading(let format): "read \(format.name)"
        case .writing(let format): "write \(format.traits.picture.name)"
        case .files(let folder): "read files in \(SourceName.ofPath(folder.path))"
        }
    }

    /// The package of Debian 13 and Ubuntu 24.04 that brings what is lacking, or Cameo's own. Debian 12 has libheif's codecs in libheif
    /// itself. Nil: this libvips was built without the format.
    package var missingPackage: String? {
        switch self {
        case .reading(.heif): "libheif-plugin-libde265"
        case .reading(.avif): "libheif-plugin-dav1d"
        case .reading(.video): "cameo-frames"
        case .writing(let format): format.traits.encoderPackage
        case .reading, .files: nil
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
    /// What ends the job if no host can do it; nil: `render.formatUnavailable`.
    package let ending: JobFailure?

    package init(_ lack: HostLack, for source: String, ending: JobFailure? = nil) {
        (self.lack, self.source, self.ending) = (lack, source, ending)
    }

    /// The failure of a job that no host of a live worker that takes such jobs can do; nil if one can.
    package func failure(on hosts: [(host: String, lacks: Bool)]) -> JobFailure? {
        guard hosts.allSatisfy(\.lacks) else { return nil }
        let names = Set(hosts.map(\.host)).sorted().joined(separator: ", ")
        if let ending {
            guard hosts.count > 1 else { return ending }
            return ending.saying("\(ending.message); nor can another worker's host (\(names))")
        }
        let message = "\(source) needs a host that can \(lack.activity), but no worker's can (\(names)): \(lack.remedy)"
        return JobFailure(.renderFormatUnavailable, at: .render, message)
    }
}
