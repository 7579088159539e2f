/// How a worker is ended from outside.
public enum WorkerStop: String, Codable, CaseIterable, Sendable {
    /// It claims nothing more and finishes what it has begun, however long that takes.
    case drain
    /// It gives what it has begun back, uncharged.
    case now
}
