internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import Glibc

/// Shows a store's status again and again until it is stopped.
struct StatusWatch {
    private static let pause = 1.0
    /// A status may take at most this share of the time, however large the store is.
    private static let share = 0.02
    private static let bars = 500

    private let store: any ReaderStore
    private var history = History()
    private var report: StatusReport?

    init(store: any ReaderStore) {
        self.store = store
    }

    /// What the bars show.
    private struct History {
        private(set) var rates: [Double] = []
        private(set) var waiting: [Double] = []
        private var last: (ended: Int, at: Date)?

        mutating func add(_ report: StatusReport) {
            let ended = report.count(.completed) + report.count(.discarded)
            if let last {
                let seconds = max(0.001, report.generatedAt.timeIntervalSince(last.at))
                // Retention removes ended jobs.
                rates.append(max(0, Double(ended - last.ended)) / seconds)
            }
            last = (ended, report.generatedAt)
            waiting.append(Double(report.count(.available) + report.count(.retryable)))
            rates = rates.suffix(StatusWatch.bars)
            waiting = waiting.suffix(StatusWatch.bars)
        }
    }

    mutating func run() async throws {
        guard OutputTerminal.obeysEscapes else { return try await printLines() }
        let screen = Screen()
        let events = await WatchEvents(readingKeys: screen.modes != nil)
        screen.enter()
        // However this ends. Errors are printed afterwards.
        defer { screen.leave() }
        try await refresh(screen, events)
        for await event in events.stream {
            switch event {
            case .due: try await refresh(screen, events)
            case .resized: draw(screen)
            case .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")), .closed: return
            case .key(Screen.interrupt): throw ExitCode(128 + SIGINT)
            case .key(Screen.quit): throw ExitCode(128 + SIGQUIT)
            case .key(Screen.suspend):
                screen.leave()
                // To this thread, so that it returns when the process is continued, and not before it is stopped.
                raise(SIGSTOP)
                screen.enter()
                draw(screen)
            case .key: break
            case .ended(let signal): throw ExitCode(128 + signal)
            }
        }
    }

    private func printLines() async throws {
        let text = StatusText(escape: TerminalText.escaped)
        while true {
            let started = ContinuousClock.now
            Output.line(text.line(try await store.status()))
            try await Task.sleep(for: .seconds(Self.pause(after: started)))
        }
    }

    private mutating func refresh(_ screen: Screen, _ events: WatchEvents) async throws {
        let started = ContinuousClock.now
        let report = try await store.status()
        self.report = report
        history.add(report)
        draw(screen)
        events.setTimer(Self.pause(after: started))
    }

    private static func pause(after started: ContinuousClock.Instant) -> Double {
        max(pause, started.duration(to: .now) / .seconds(1) / share)
    }

    private func draw(_ screen: Screen) {
        guard let report, let terminal = OutputTerminal.current else { return }
        let columns = terminal.columns
        let text = StatusText(columns: columns, style: OutputTerminal.style, escape: TerminalText.escaped)
        let title = "\(TerminalText.escaped(store.location))  \(WireFormat.text(of: report.generatedAt))  q quits"
        let rate = history.rates.last ?? report.throughput.first?.perSecond ?? 0
        let lines =
            [
                title.cut(toColumns: columns),
                bars("per second", history.rates, AmountText.rate(rate), columns),
                bars("waiting", history.waiting, "\(Int(history.waiting.last ?? 0))", columns), "",
            ] + text.lines(report)
        screen.draw(lines, rows: terminal.rows)
    }

    /// `per second     12.3 ▁▂▅█`
    private func bars(_ label: String, _ numbers: [Double], _ last: String, _ columns: Int) -> String {
        let start = label + String(repeating: " ", count: max(1, 20 - label.count - last.count)) + last + " "
        return (start + Sparkline.text(numbers, columns: columns - start.count)).cut(toColumns: columns)
    }
}

/// The terminal while something is redrawn on it: its other screen, without a cursor, and without an echo of keys.
struct Screen {
    /// Ctrl-C, Ctrl-\ and Ctrl-Z.
    static let interrupt: UInt8 = 0x03
    static let quit: UInt8 = 0x1C
    static let suspend: UInt8 = 0x1A

    /// The keyboard's modes before; nil if standard input is no terminal.
    let modes: termios?

    init() {
        var modes = termios()
        self.modes = tcgetattr(STDIN_FILENO, &modes) == 0 ? modes : nil
    }

    func enter() {
        if var modes {
            // A key is read at once, Ctrl-C and Ctrl-Z like any other.
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
        }
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Restores the terminal.
    func leave() {
        write("\u{1B}[?25h\u{1B}[?1049l")
        if var modes { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
    }

    /// Shows these lines, which fit the terminal's width, instead of those before.
    func draw(_ lines: [String], rows: Int) {
        let shown = lines.count <= rows ? lines : lines.prefix(max(0, rows - 1)) + ["…"]
        // A line is cleared before it is written: behind its last column, some terminals would clear that column.
        write("\u{1B}[H" + shown.map { "\u{1B}[K" + $0 }.joined(separator: "\n") + "\u{1B}[J")
    }

    private func write(_ text: String) { Output.bytes(Data(text.utf8)) }
}

/// What a watch reacts to.
enum WatchEvent: Sendable {
    /// It is time to read the status.
    case due
    case resized
    case key(UInt8)
    /// The keyboard is gone.
    case closed
    case ended(signal: Int32)
}

/// The signals, keys and times of a watch, one after the other.
struct WatchEvents {
    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    let stream: AsyncStream<WatchEvent>
    private let continuation: AsyncStream<WatchEvent>.Continuation
    /// Dispatch sources report to a queue.
    private let queue = DispatchQueue(label: "cameo.watch")
    /// Kept, because a source that is released reports nothing more.
    private var sources: [any DispatchSourceProtocol] = []

    /// Returns when no signal has its default effect any more.
    init(readingKeys: Bool) async {
        (stream, continuation) = AsyncStream.makeStream()
        for signal in [SIGWINCH] + Self.endings {
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            let event: WatchEvent = signal == SIGWINCH ? .resized : .ended(signal: signal)
            source.setEventHandler { [continuation] in continuation.yield(event) }
            sources.append(source)
        }
        if readingKeys {
            let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
            source.setEventHandler { [continuation] in
                var byte: UInt8 = 0
                continuation.yield(read(STDIN_FILENO, &byte, 1) == 1 ? .key(byte) : .closed)
            }
            sources.append(source)
        }
        let registered = DispatchGroup()
        for source in sources {
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
        }
        await withCheckedContinuation { all in registered.notify(queue: queue) { all.resume() } }
    }

    /// Reports ``WatchEvent/due`` after this time.
    func setTimer(_ seconds: Double) {
        queue.asyncAfter(deadline: .now() + seconds) { [continuation] in continuation.yield(.due) }
    }
}
