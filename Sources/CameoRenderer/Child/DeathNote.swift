/// The line that a crashing child writes before it ends (see `cameo_report_crashes`).
struct DeathNote: Hashable {
    static let prefix = "cameo-death "

    /// The `errno` of the crashing thread.
    let errno: Int32
    /// The peak address space (VmPeak) in bytes.
    let peakBytes: Int

    /// - Parameter line: a line of standard error; the result is nil unless it is a death note.
    init?(_ line: Substring) {
        guard line.hasPrefix(Self.prefix) else { return nil }
        let words = line.dropFirst(Self.prefix.count).split(separator: " ").map { $0.split(separator: "=") }
        guard words.count == 2, words.allSatisfy({ $0.count == 2 }), words[0][0] == "errno", words[1][0] == "VmPeak",
            let errno = Int32(words[0][1]), let kibibytes = Int(words[1][1]), (0...1 << 40).contains(kibibytes)
        else { return nil }
        self.errno = errno
        peakBytes = kibibytes << 10
    }
}
