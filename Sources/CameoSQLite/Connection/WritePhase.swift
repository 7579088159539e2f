internal import CameoStore

/// Whether a write begins new work, which decides if it may run on tables of a newer version.
enum WritePhase: Sendable {
    /// Begins something, or changes what others began; the writer must know the tables.
    case new
    /// Continues or ends work begun under this version's tables: a claim, a fetch, a worker. A newer version
    /// understands what older ones write, and its constraints refuse what it cannot accept.
    case begun
}
