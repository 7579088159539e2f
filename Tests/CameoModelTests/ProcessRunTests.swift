import Foundation
import TestSupport
import Testing

/// Tests the process runner that the other suites use.
@Suite(.timeLimit(.minutes(10)))
struct ProcessRunTests {
    @Test func bigInputAndOutputDoNotBlock() async throws {
        let input = Data(repeating: UInt8(ascii: "x"), count: 5_000_000)
        let result = try await run("sh", ["-c", "tee /dev/stderr"], input: input)
        #expect(result.exitStatus == 0)
        #expect(result.standardOutput == input)
        #expect(result.standardError == input)
    }

    @Test func reportsHowAProgramEnded() async throws {
        #expect(try await run("sh", ["-c", "exit 3"]).ending == .exited(3))
        let killed = try await run("sh", ["-c", "kill -9 $$"])
        #expect(killed.ending == .signalled(9))
        #expect(killed.exitStatus == 137)
        await #expect(throws: (any Error).self) { try await run("/no/such/program") }
    }

    @Test func setsEnvironmentDirectoryAndArguments() async throws {
        let result = try await run(
            "/bin/sh",
            ["-c", #"echo "$CAMEO_A,${HOME-none},$1"; pwd; cat"#, "sh", "a b'c"],
            environment: ["CAMEO_A": "ä", "HOME": nil],
            currentDirectory: URL(filePath: "/usr/bin")
        )
        #expect(result.outputText == "ä,none,a b'c\n/usr/bin\n")
    }

    @Test func timeoutKillsTheGroup() async throws {
        let error = try await #require(throws: ProcessTimedOut.self) {
            try await run("sh", ["-c", "echo begun; sleep 600 & sleep 600"], timeout: .seconds(5))
        }
        #expect(error.result.outputText == "begun\n")
        #expect(error.result.ending == .signalled(9))
    }

    @Test func aRemainingGrandchildDoesNotBlock() async throws {
        let result = try await run("sh", ["-c", "sleep 600 & echo $!"])
        let grandchild = try #require(Int32(result.outputText.dropLast()))
        #expect(kill(grandchild, SIGKILL) == 0, "it was waited for to its end")
    }

    @Test func cancellingTheTaskKillsTheProgram() async throws {
        let task = Task { try await run("sleep", ["600"]) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func childCanBeSignalledAndWatched() async throws {
        let child = try ChildProcess(
            "sh",
            ["-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done"]
        )
        try await eventually("the shell is up") { !child.standardOutput.isEmpty }
        #expect(child.send(SIGTERM))
        #expect(await child.ending == .exited(5))
        #expect(String(decoding: child.standardOutput, as: UTF8.self) == "up\nbye\n")
        #expect(!child.send(SIGTERM))
    }

    @Test func manyAtOnceDoNotStarveThePool() async throws {
        let sum = try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 0..<32 {
                group.addTask { try await run("sh", ["-c", "sleep 0.2; exit \(number)"]).exitStatus }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == (0..<32).reduce(0, +))
    }
}
