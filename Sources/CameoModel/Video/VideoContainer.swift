internal import Glibc

/// A file format of videos, and of sound with a cover, recognised by its first bytes.
package enum VideoContainer: String, CaseIterable, Sendable {
    case mp4, matroska, mpegTS, avi, mp3

    package var name: String {
        switch self {
        case .mp4: "MP4 or QuickTime"
        case .matroska: "WebM or Matroska"
        case .mpegTS: "MPEG transport stream"
        case .avi: "AVI"
        case .mp3: "MP3"
        }
    }

    /// Nil for everything else, pictures included, and if the file cannot be read.
    package init?(sniffing file: OpenFile) {
        var start = [UInt8](repeating: 0, count: Self.sniffedBytes)
        var count: Int
        repeat { count = pread(file.descriptor, &start, start.count, 0) } while count < 0 && errno == EINTR
        self.init(sniffing: start.prefix(max(0, count)))
    }

    /// The bytes of a packet of a transport stream (ISO/IEC 13818-1), and before it in some recordings.
    private static let (packet, stamp) = (188, 4)
    private static let sniffedBytes = 4 * (packet + stamp)

    /// - Parameter bytes: the file, or its first 768 bytes.
    package init?(sniffing bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(Self.sniffedBytes))
        func has(_ text: String, at offset: Int) -> Bool { start.dropFirst(offset).starts(with: text.utf8) }
        func isStream(every stride: Int, from first: Int) -> Bool {
            (0..<4).allSatisfy { start.dropFirst(first + $0 * stride).first == 0x47 }
        }
        if ["ftyp", "moov", "mdat", "wide", "free", "skip"].contains(where: { has($0, at: 4) }) {
            // AVIF and HEIF are pictures in the same boxes.
            guard PictureFormat(sniffing: start) == nil else { return nil }
            self = .mp4
        } else if start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .matroska
        } else if has("RIFF", at: 0), has("AVI ", at: 8) {
            self = .avi
        } else if has("ID3", at: 0) {
            // Without a tag, there is no cover.
            self = .mp3
        } else if isStream(every: Self.packet, from: 0) || isStream(every: Self.packet + Self.stamp, from: Self.stamp) {
            self = .mpegTS
        } else {
            return nil
        }
    }
}
