internal import Glibc

/// The memory of a living process, from /proc/PID/status (proc(5)).
struct ProcessMemory {
    /// The peak address space (VmPeak) in bytes.
    let peakBytes: Int
    /// The resident memory (VmRSS) in bytes.
    let residentBytes: Int

    /// Nil if the process is gone or is a zombie, which has no memory left.
    init?(of pid: pid_t) {
        let file = open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // This runs once per picture: the text is searched where it was read.
        let found: (Int, Int)? = withUnsafeTemporaryAllocation(byteCount: 8_192, alignment: 1) { text in
            let text = UnsafeRawBufferPointer(rebasing: text[..<max(0, read(file, text.baseAddress, text.count))])
            guard let peak = Self.kibibytes("VmPeak:", in: text), let resident = Self.kibibytes("VmRSS:", in: text)
            else { return nil }
            return (peak, resident)
        }
        guard let (peak, resident) = found else { return nil }
        peakBytes = peak << 10
        residentBytes = resident << 10
    }

    private static func kibibytes(_ name: String, in text: UnsafeRawBufferPointer) -> Int? {
        var rest = text[...]
        while !rest.isEmpty {
            if rest.starts(with: name.utf8) {
                let digits = rest.dropFirst(name.utf8.count)
                    .drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                    .prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            }
            rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        }
        return nil
    }
}
