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

    @Test func whatMayYetComeIsEnqueuedWhereThatIsSaid() async throws {
        try await deployment.command("cameo-enqueue none.jpg --allow-missing --overlay none.png").succeeded()
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
        try await run(
            "/usr/bin/env",
            without + command,
            environment: ["CAMEO_STORE": deployment.store],
            currentDirectory: deployment.folder.url
        ).succeeded()
    }

    @Test(arguments: ["cameo-enqueue", "cameo-worker"])
    func aStoreIsMadeOneLevelDeep(command: String) async throws {
        let (near, far) = (deployment.folder.path("near"), deployment.folder.path("far/x/y"))
        let arguments = command == "cameo-enqueue" ? ["there.jpg"] : ["--drain"]
        try await deployment.command(command, ["--store", near] + arguments).succeeded()
        let refused = try await deployment.command(command, ["--store", far] + arguments)
        #expect(refused.exitStatus == 4)
        #expect(refused.errorText.contains("there is no folder \(deployment.folder.path("far/x")) to create it in"))
        #expect(!FileManager.default.fileExists(atPath: deployment.folder.path("far")))
    }
}
