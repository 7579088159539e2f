import CameoModel
import Foundation
import TestSupport
import Testing

@testable import CameoHooks

@Suite(.timeLimit(.minutes(10)))
struct HookCommandTests {
    private func run(_ arguments: String..., input: String = "", timeout: Duration = .seconds(300)) async throws
        -> String?
    {
        try await HookCommand.run(arguments, input: Data(input.utf8), timeout: timeout)
    }

    @Test func aCommandReadsTheMessageAndSucceedsWithZero() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        #expect(try await run("/usr/bin/tee", path, input: "message") == nil)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "message")
    }

    @Test func argumentsReachNoShell() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("$(id) ; out")
        #expect(try await run("/usr/bin/tee", path) == nil)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func anotherStatusIsReportedWithTheLastLineOfItsErrors() async throws {
        #expect(
            try await run("/bin/sh", "-c", "echo first >&2; echo last >&2; exit 3") == "the command exited with 3: last"
        )
        #expect(try await run("/bin/sh", "-c", "exit 4") == "the command exited with 4")
        #expect(try await run("/bin/sh", "-c", "kill -9 $$") == "the command died of signal 9")
        let missing = try await run("/nowhere")
        #expect(missing == "the command cannot be started: No such file or directory")
    }

    @Test func aFloodOfErrorsIsRead() async throws {
        #expect(
            try await run("/bin/sh", "-c", "head -c 3000000 /dev/zero >&2; exit 1")?.hasPrefix(
                "the command exited with 1"
            ) == true
        )
    }

    /// Its whole group ends: the grandchild would hold the pipe, whose end is then never reached.
    @Test func aCommandThatTakesTooLongIsKilledWithItsGroup() async throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        // The command is late even if it has not opened the pipe by then: it must not leave a reader that waits for it.
        let end = open(fifo, O_RDONLY | O_NONBLOCK)
        #expect(end >= 0)
        let rest = FileHandle(fileDescriptor: end, closeOnDealloc: true)
        let trouble = try await run("/bin/sh", "-c", "exec 3> '\(fifo)'; sleep 600 & wait", timeout: .milliseconds(300))
        #expect(trouble?.hasPrefix("the command did not end within") == true)
        #expect(fcntl(end, F_SETFL, 0) == 0)
        #expect(try rest.readToEnd() ?? Data() == Data())
    }

    @Test func cancellingKillsTheCommand() async throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        let command = Task { try await run("/bin/sh", "-c", "exec 3> '\(fifo)'; sleep 600 & wait") }
        let end = open(fifo, O_RDONLY | O_NONBLOCK)
        #expect(end >= 0)
        let rest = FileHandle(fileDescriptor: end, closeOnDealloc: true)
        // Without anybody at the other end, there would be an end to read.
        try await eventually("the command opens the pipe") {
            var byte: UInt8 = 0
            return read(end, &byte, 1) < 0 && errno == EAGAIN
        }
        command.cancel()
        await #expect(throws: CancellationError.self) { try await command.value }
        #expect(fcntl(end, F_SETFL, 0) == 0)
        #expect(try rest.readToEnd() ?? Data() == Data())
    }
}
