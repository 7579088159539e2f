import Testing

/// Suites with real processes run one at a time: each may use the whole machine, and none misses its deadlines for
/// another.
@Suite(.serialized)
enum EndToEnd {}
