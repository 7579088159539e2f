internal import Glibc

/// A living process's memory, from /proc/PID/status (proc(5)).
struct ProcessMemory {
    /// VmPeak: the most address space that it had.
    let peakBytes: Int
    /// VmRSS.
    let residentBytes: Int

    /// Nil if the process is gone or a zombie, which has no memory left.
    init?(of pid: pid_t) {
        guard let file = fopen("/proc/\(pid)/status", "re") else { return nil }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&text, 1, text.count, file)
        var kibibytes: [Substring: Int] = [:]
        for line in String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count >= 2, let number = Int(words[1]) { kibibytes[words[0]] = number }
        }
        guard let peak = kibibytes["VmPeak:"], let resident = kibibytes["VmRSS:"] else { return nil }
        peakBytes = peak << 10
        residentBytes = resident << 10
    }
}
