package import Testing

/// Runs one origin for the whole of a suite.
package struct OriginScope: SuiteTrait, TestScoping {
    @TaskLocal package static var current: Origin?

    @concurrent
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.$current.withValue(try await Origin.start(), operation: function)
    }
}

extension Origin {
    /// That of the suite, which has the trait ``OriginScope``.
    package static var ofSuite: Origin {
        guard let origin = OriginScope.current else { preconditionFailure("the suite has no origin") }
        return origin
    }
}

extension Trait where Self == OriginScope {
    package static var origin: OriginScope { OriginScope() }
}
