import Testing

/// Tests with real processes take turns: each may use the whole machine, and none is slowed beyond its deadlines.
@Suite(.serialized)
enum EndToEnd {}
