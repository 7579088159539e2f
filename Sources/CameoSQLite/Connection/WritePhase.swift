internal import CameoStore

/// What a write belongs to, which decides whether it may meet the tables of a newer version.
enum WritePhase: Sendable {
    /// Begins something, or changes what others began: it has to know the tables.
    case new
    /// Goes on with, or ends, what began when the tables were this version's: a claim, a fetch, a worker. A newer version
    /// knows what older ones write; what it cannot take, its own rules refuse.
    case begun
}
