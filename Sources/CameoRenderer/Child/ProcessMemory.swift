internal import Glibc

/// A living process's memory and threads, from /proc/PID/status (proc(5)).
struct ProcessMemory {
    /// VmPeak: the most address space that it had.
    let peakBytes: Int
    /// VmRSS.
    let residentBytes: Int
    let threads: Int

    /// Nil if the process is gone or a zombie, which has no memory left.
    init?(of pid: pid_t) {
        guard let file = fopen("/proc/\(pid)/status", "re") else { return nil }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 8_192)
        let count = fread(&text, 1, text.count, file)
        var numbers: [Substring: Int] = [:]
        for line in String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count >= 2, let number = Int(words[1]) { numbers[words[0]] = number }
        }
        guard let peak = numbers["VmPeak:"], let resident = numbers["VmRSS:"], let threads = numbers["Threads:"]
        else { return nil }
        peakBytes = peak << 10
        residentBytes = resident << 10
        self.threads = threads
    }
}
