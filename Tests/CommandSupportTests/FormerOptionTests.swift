import Testing

@testable import CommandSupport

/// Options that have gone: they work for a release, with a warning that says what to write.
@Suite(.timeLimit(.minutes(10)))
struct FormerOptionTests {
    private static let cases = [
        ("cameo-enqueue a.jpg --brightness 1.1 --contrast=2", "a.jpg --adjust=brightness=1.1 --adjust=contrast=2"),
        ("cameo-enqueue --lossless a.jpg --keep-profile", "--encoding=lossless a.jpg --keep=profile"),
        ("cameo-enqueue a.jpg --trim 3 --brightness -1", "a.jpg --trim 3 --adjust=brightness=-1"),
        ("cameo-enqueue --in 10m -- --in --lossless", "--at=10m -- --in --lossless"),
        ("cameo-worker --retry-base 0 --idle-io --drain", "--retry=base=0 --nice=io=idle --drain"),
        ("cameo-worker --keep-completed=1d --grace 3s", "--keep=completed=1d --grace 3s"),
        ("cameo-admin worker stop --drain --all", "worker stop --all"),
        ("cameo-admin snooze 1 --until 2090-01-31T12:00:00Z", "snooze 1 --for=2090-01-31T12:00:00Z"),
    ]

    @Test(arguments: cases)
    func isReplaced(typed: String, words: String) throws {
        let line = try TypedLine(typed)
        let (now, warnings) = FormerOptions.replaced(in: line.words, for: line.root)
        #expect(now.joined(separator: " ") == words)
        #expect(!warnings.isEmpty && warnings.allSatisfy { $0.hasPrefix("--") && $0.contains("with the next release") })
    }

    /// What takes the place of each is an option that the command has, and takes what it was given.
    @Test(arguments: TypedLine.commands.keys.sorted())
    func whatTakesItsPlaceIsThere(command: String) throws {
        let root = try TypedLine(command).root
        let names = Set(try CommandHelp.all(of: command).flatMap(\.help.options).map(\.name))
        for (former, now) in FormerOptions.of(root) {
            #expect(!names.contains(former) || (command, former) == ("cameo-admin", "--until"), "\(former)")
            #expect(now.isEmpty || names.contains(String(now.prefix { $0 != "=" })), "\(former)")
        }
    }

    @Test func aVariableIsReplacedToo() async throws {
        let line = try TypedLine("cameo-worker", environment: ["CAMEO_KEEP_COMPLETED": "1d", "CAMEO_IDLE_IO": "1"])
        #expect(try await line.mistake() == nil)
        #expect(try line.warnings().count == 2)
        let other = try TypedLine("cameo-worker --keep-completed 2d", environment: ["CAMEO_KEEP_COMPLETED": "x"])
        #expect(try await other.mistake() == nil, "the command line comes before the environment")
    }
}
