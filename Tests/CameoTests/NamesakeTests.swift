import Cameo
import NamesakeClient
import NamesakeJob
import Testing

/// A program whose other modules declare `Client` and `Job` too.
@Suite(.timeLimit(.minutes(10)))
struct NamesakeTests {
    @Test func theModulesNameSaysWhichIsMeant() async throws {
        let bench = try Workbench()
        let client: Cameo.Client = try Cameo.Client(store: bench.path)
        let jobs: [Cameo.Job] = try await client.jobs()
        #expect(jobs.isEmpty)
        _ = (NamesakeClient.Client(), NamesakeJob.Job())
    }
}
