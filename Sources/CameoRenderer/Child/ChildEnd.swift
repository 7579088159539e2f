internal import Glibc

/// How a process ended, according to wait(2).
enum ChildEnd: Hashable, CustomStringConvertible {
    case exited(Int32)
    case killed(signal: Int32)
    /// Another part of the program has reaped it.
    case unknown

    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    /// Whether somebody sent it a signal that ends programs, which no picture causes.
    var isByOthers: Bool {
        guard case .killed(let signal) = self else { return false }
        return [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL].contains(signal)
    }

    var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): Self.name(of: signal)
        case .unknown: "unknown cause"
        }
    }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
            SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS", SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
