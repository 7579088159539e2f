import TestSupport
import Testing

/// Runs one origin for the whole of a suite.
struct OriginScope: SuiteTrait, TestScoping {
    @TaskLocal static var current: Origin?

    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.$current.withValue(try await Origin.start(), operation: function)
    }
}

extension Trait where Self == OriginScope {
    static var origin: OriginScope { OriginScope() }
}
