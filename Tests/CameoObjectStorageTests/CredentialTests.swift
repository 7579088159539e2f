import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

@Suite(.objectServers(.swift), .serialized, .timeLimit(.minutes(5)))
struct CredentialTests {
    private let server: ObjectServer

    init() throws {
        server = try CameoObjectStorageTests.server()
    }

    /// A storage that has no other variables than these.
    private func storage(_ environment: [String: String], credentials: String? = nil) throws -> ObjectStorage {
        let option = credentials.map { "&credentials=\($0)" } ?? ""
        let name = try BucketName(server.name("test-\(UUID().uuidString)") + option, environment: environment)
        return try ObjectStorage(name, configuration: ObjectStorageConfiguration(environment: environment))
    }

    private static func file(_ secret: String) -> Data {
        let text = """
            # comment = x
            [default]
            aws_access_key_id = nobody
            aws_secret_access_key = nothing

            [ thumbnails ]
              aws_access_key_id=test:tester
            AWS_SECRET_ACCESS_KEY =   \(secret)
            region = eu-west-1

            [other]
            aws_access_key_id = nobody
            """
        return Data(text.utf8)
    }

    @Test func aProfileOfTheSharedFileIsFound() throws {
        let text = String(decoding: Self.file("a=b/c+d=="), as: UTF8.self)
        let found = try #require(CredentialsFile.credentials(in: text, profile: "thumbnails"))
        #expect((found.keyID, found.secret) == ("test:tester", "a=b/c+d=="))
        #expect(found.sessionToken == nil)
        #expect(CredentialsFile.credentials(in: text, profile: "default")?.keyID == "nobody")
        for profile in ["other", "comment", ""] {
            #expect(CredentialsFile.credentials(in: text, profile: profile) == nil)
        }
        let temporary = "[x]\r\naws_access_key_id=a\r\naws_secret_access_key=b\r\naws_session_token=c=\r\n"
        #expect(CredentialsFile.credentials(in: temporary, profile: "x")?.sessionToken == "c=")
    }

    @Test func theEnvironmentComesBeforeTheFileUnlessTheNameChooses() {
        let both = ["AWS_ACCESS_KEY_ID": "x", "HOME": "/home/x", "AWS_PROFILE": "p"]
        #expect(CredentialSource(nil, environment: both) == .environment)
        let file = CredentialSource.file(path: "/home/x/.aws/credentials", profile: "p")
        #expect(CredentialSource(.file, environment: both) == file)
        let elsewhere = ["AWS_ACCESS_KEY_ID": "", "AWS_SHARED_CREDENTIALS_FILE": "/etc/x"]
        #expect(CredentialSource(nil, environment: elsewhere) == .file(path: "/etc/x", profile: "default"))
        #expect(CredentialSource(.instance, environment: both) == .instance(service: "http://169.254.169.254"))
    }

    @Test func aFileIsReadAgainWhenItsCredentialsAreRefused() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.file("wrong"), to: "credentials")
        let storage = try storage(["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_PROFILE": "thumbnails"])
        let error = await #expect(throws: StoreError.self) { try await storage.put(Data("x".utf8)) }
        #expect(error?.description.contains("SignatureDoesNotMatch") == true)
        try folder.write(Self.file("testing"), to: "credentials")
        #expect(try await storage.put(Data("x".utf8)) == .stored)
    }

    @Test(arguments: [
        (["AWS_ACCESS_KEY_ID": "x"], "AWS_SECRET_ACCESS_KEY"), ([:], "/.aws/credentials"),
        (["AWS_SHARED_CREDENTIALS_FILE": "/nowhere/at/all"], "/nowhere/at/all"),
        (["AWS_SHARED_CREDENTIALS_FILE": Repository.file("README.md").path, "AWS_PROFILE": "somebody"], "somebody"),
    ])
    func missingCredentialsAreDeniedWithWhatToLookAt(environment: [String: String], part: String) async throws {
        let storage = try storage(environment)
        let reason = try await trouble("denied", of: storage) { try await storage.put(Data()) }
        #expect(reason.contains(part))
    }

    @Test func aMachinesRoleIsAskedForOnceAndOnlyIfTheNameSaysSo() async throws {
        let service = try await MetadataService.start(keyID: "test:tester", secret: "testing", seconds: 3_600)
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url + "/"]
        let other = try storage(environment)
        await #expect(throws: StoreError.self) { try await other.put(Data()) }
        #expect(try await service.given() == 0)
        let storage = try storage(environment, credentials: "instance")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 { group.addTask { _ = try await storage.put(Data("\(index)".utf8)) } }
            try await group.waitForAll()
        }
        #expect(try await service.given() == 1)
        let url = try #require(
            try await storage.temporaryURL(of: BlobDigest(of: Data()), on: .init(lifetime: .seconds(86_400)))
        )
        // It ends with the credentials.
        #expect((3_500...3_600).contains(url.remaining.seconds))
        #expect(url.text.contains("X-Amz-Security-Token=token"))
    }

    @Test func credentialsThatEndSoonAreReplacedWhileTheyStillWork() async throws {
        let service = try await MetadataService.start(keyID: "test:tester", secret: "testing", seconds: 200)
        let storage = try storage(["AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url], credentials: "instance")
        for index in 0..<3 { _ = try await storage.put(Data("\(index)".utf8)) }
        #expect(try await service.given() == 3)
    }

    @Test func aMachineWithoutTheServiceIsUnreachable() async throws {
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"]
        let name = try BucketName(server.name("x") + "&credentials=instance", environment: environment)
        var configuration = ObjectStorageConfiguration(environment: environment)
        configuration.retries = RetryRules(firstPause: .milliseconds(5), patience: .milliseconds(100))
        let storage = try ObjectStorage(name, configuration: configuration)
        let reason = try await trouble("unreachable", of: storage) { try await storage.put(Data()) }
        #expect(reason.contains("metadata service"))
    }

    /// Neither what a server repeats of a request nor what a process shows of itself has the secret in it.
    @Test func theSecretIsInNoMessageAndNoProcessList() async throws {
        let secret = "dont-show-\(UUID().uuidString)"
        let environment = ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": secret]
        let storage = try storage(environment)
        let error = await #expect(throws: StoreError.self) { try await storage.put(Data()) }
        #expect(error?.description.contains(secret) == false)
        #expect("\(storage.client.name)\(storage.location)".contains(secret) == false)
        for file in ["cmdline", "environ"] {
            let shown = try Data(contentsOf: URL(filePath: "/proc/self/\(file)"))
            #expect(!String(decoding: shown, as: UTF8.self).contains(secret))
        }
    }
}
