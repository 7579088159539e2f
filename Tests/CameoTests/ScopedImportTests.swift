import NamesakeClient
import NamesakeJob
import Testing

import class Cameo.Client
import struct Cameo.Job

/// As ``NamesakeTests``, in a file that imports the declarations that it means.
@Suite(.timeLimit(.minutes(10)))
struct ScopedImportTests {
    @Test func whatIsImportedByItsNameComesFirst() async throws {
        let bench = try Workbench()
        let jobs: [Job] = try await Client(store: bench.path).jobs()
        #expect(jobs.isEmpty)
    }
}
