internal import CameoStore

/// One promise of the store protocols, checked against any engine.
package struct ConformanceCase: Sendable, CustomStringConvertible {
    package let name: String
    package let run: @Sendable (Fixture) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Fixture) async throws -> Void) {
        self.name = name
        self.run = run
    }

    package var description: String { name }
}
