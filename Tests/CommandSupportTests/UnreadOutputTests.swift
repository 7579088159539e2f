import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CommandSupport

@Suite(.timeLimit(.minutes(10)))
struct UnreadOutputTests {
    @Test func whoWritesNeverWaitsForAReaderAndLearnsHowMuchWasLost() async throws {
        let pipe = Pipe()
        let lost = Mutex(0)
        let output = try UnreadOutput(to: pipe.fileHandleForWriting.fileDescriptor) { count in
            lost.withLock { $0 += count }
        }
        let line = String(repeating: "a", count: 99) + "\n"
        // Four megabytes, and nobody reads.
        for _ in 1...40_000 { output.write(Data(line.utf8)) }
        output.drain()
        let read = Task.detached {
            var whole = Data()
            while !whole.suffix(4).elementsEqual("end\n".utf8) {
                let next = pipe.fileHandleForReading.availableData
                guard !next.isEmpty else { break }
                whole += next
            }
            return String(decoding: whole, as: UTF8.self)
        }
        try await eventually("it flows again") { lost.withLock { $0 > 0 } }
        output.write(Data("end\n".utf8))
        let lines = await read.value.split(separator: "\n")
        #expect(lines.dropLast().allSatisfy { $0.count == 99 }, "no line was cut")
        #expect(lines.count - 1 + lost.withLock { $0 } == 40_000)
        output.drain()
    }
}
