import CameoModel
import Foundation
import TestSupport
import Testing

/// `cameo-enqueue` refuses mistakes in a source that it can see, by name and before anything is enqueued.
@Suite(.timeLimit(.minutes(10)))
struct SourceRefusalTests {
    private let deployment: Deployment

    init() throws {
        deployment = try Deployment()
        try deployment.folder.write(Data("no picture, but a file".utf8), to: "there.jpg")
    }

    private func expectRefused(_ arguments: [String], _ words: String..., input: Data? = nil) async throws {
        let result = try await deployment.command("cameo-enqueue", arguments, input: input)
        #expect(result.exitStatus == 2 && result.outputText.isEmpty, "\(arguments)")
        for text in words { #expect(result.errorText.contains(text), "\(arguments): \(result.errorText)") }
        #expect(!FileManager.default.fileExists(atPath: deployment.store), "\(arguments)")
    }

    @Test(
        arguments: [
            (["none.jpg"], "cameo-enqueue: none.jpg: there is no such file"), (["pictures"], "pictures: is a folder"),
            (["there.jpg/x"], "there.jpg/x: there is no such file"),
            (["/dev/null"], "/dev/null: is not a regular file"),
            (["s3://bucket/key.jpg"], "uses the unknown scheme s3:"),
            (["ftp://example.com/a.jpg"], "uses the unknown scheme ftp:"),
            (["--in", "10", "minutes"], "minutes: there is no such file"),
            (["file:///none/a.jpg"], "file:///none/a.jpg: there is no such file"),
            (["file://host/a.jpg"], "names a host"), (["file:///a%zz.jpg"], "hexadecimal"), (["cameo:x"], "cameo:x: "),
            (["--overlay", "none.png"], "none.png: there is no such file"),
            (["--overlay", "s3://b/k"], "the overlay s3://b/k: uses the unknown scheme s3:"),
        ] as [([String], String)]
    )
    func whatCannotWorkIsRefusedWithWhatCould(arguments: [String], message: String) async throws {
        try await expectRefused(["there.jpg"] + arguments, message)
    }

    @Test func everyFaultIsNamedByItsLine() async throws {
        let list = "there.jpg\n\none.jpg\r\npictures\n\(URL(filePath: deployment.folder.path("there.jpg")))\n"
        try await expectRefused(
            ["-"],
            "cameo-enqueue: line 3 of the list, one.jpg: there is no such file",
            "cameo-enqueue: line 4 of the list, pictures: is a folder",
            input: Data(list.utf8)
        )
        let many = (0..<50).map { "none-\($0).jpg\n" }.joined()
        try await expectRefused(["-"], "none-19.jpg", "and 30 more; nothing was enqueued", input: Data(many.utf8))
    }

    @Test(arguments: ["file:///none/a.jpg", "s3://bucket/key.jpg", "a.jpg"])
    func aRequestsSourceToo(source: String) async throws {
        let request = Data(#"{"source":"\#(source)","renditions":[{"width":9}]}"#.utf8)
        try await expectRefused(["--request", "-"], "the source \(source): ", input: request)
    }

    @Test func whatMayYetComeIsEnqueuedWhereThatIsSaid() async throws {
        let result = try await deployment.command(
            "cameo-enqueue",
            ["none.jpg", "--allow-missing", "--overlay", "none.png"]
        )
        #expect(result.exitStatus == 0, "\(result.errorText)")
        for source in ["s3://bucket/key.jpg", "pictures"] {
            #expect(try await deployment.command("cameo-enqueue", [source, "--allow-missing"]).exitStatus == 2)
        }
    }

    /// The worker may run as another user with more permissions.
    @Test func whatCannotBeSeenIsNotJudged() async throws {
        let closed = deployment.folder.path("closed")
        try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed) }
        let command = [try Deployment.executable("cameo-enqueue"), "closed/a.jpg"]
        let without = getuid() == 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
        let result = try await run(
            "/usr/bin/env",
            without + command,
            environment: ["CAMEO_STORE": deployment.store],
            currentDirectory: deployment.folder.url
        )
        #expect(result.exitStatus == 0, "\(result.errorText)")
    }

    @Test(arguments: ["cameo-enqueue", "cameo-worker"])
    func aStoreIsMadeOneLevelDeep(command: String) async throws {
        let (near, far) = (deployment.folder.path("near"), deployment.folder.path("far/x/y"))
        let arguments = command == "cameo-enqueue" ? ["there.jpg"] : ["--drain"]
        let made = try await deployment.command(command, ["--store", near] + arguments)
        #expect(made.exitStatus == 0, "\(made.errorText)")
        let refused = try await deployment.command(command, ["--store", far] + arguments)
        #expect(refused.exitStatus == 4)
        #expect(refused.errorText.contains("there is no folder \(deployment.folder.path("far/x")) to create it in"))
        #expect(!FileManager.default.fileExists(atPath: deployment.folder.path("far")))
    }
}
