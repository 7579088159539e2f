import CameoModel
import CameoSystem
import Foundation
import Testing

@testable import CameoRenderer

@Suite(.timeLimit(.minutes(10)))
struct DeskTests {
    @Test func theTicketOfTheLowestRankIsNext() async throws {
        let desk = JobDesk(doorbells: [try Doorbell()], patience: .seconds(86_400))
        let source = try OpenFile.memory(containing: Data("picture".utf8))
        let (submitted, submission) = AsyncStream<Void>.makeStream()
        var submissions = submitted.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            var ids: [RenderTicket.ID] = []
            for rank in [nil, 7, nil, 3, 7] as [Int64?] {
                let id = desk.with { $0.newID() }
                ids.append(id)
                group.addTask {
                    _ = try? await withCheckedThrowingContinuation { continuation in
                        var request = RenderRequest([], of: source, named: "picture")
                        request.rank = rank
                        let ticket = RenderTicket(
                            id: id,
                            request: request,
                            clock: WorkClock(),
                            continuation: continuation
                        )
                        desk.change { $0.submit(ticket) }
                        submission.yield()
                    }
                }
                await submissions.next()
            }
            var taken: [RenderTicket.ID] = []
            while let ticket = desk.with({ $0.next(for: 0) }) {
                taken.append(ticket.id)
                desk.finish(ticket, in: 0, .failure(CancellationError()))
            }
            #expect(taken == [3, 1, 4, 0, 2].map { ids[$0] })
            try await group.waitForAll()
        }
    }
}
