internal import Foundation
package import Testing

/// A real S3-compatible server on this machine, in a process of its own, with an empty bucket `cameo`. It ends with its
/// last reference, or with the test process.
package final class ObjectServer: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// OpenStack Swift: strict signatures and body hashes, and conditions.
        case swift
        /// JuiceFS' gateway: no conditions; it writes again what is there.
        case juicefs
    }

    package let kind: Kind
    package let port: Int
    /// The certificate authority's file to trust; nil for a server that speaks no TLS.
    package let certificateAuthorities: String?
    private let channel: OriginChannel
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - kind: which server.
    ///   - tls: whether it serves HTTPS, with a certificate for `localhost`; Swift only.
    /// - Returns: a server that answers.
    /// - Throws: what starting a process throws; ``OriginError`` if it ends, as it does if `. deploy/setup servers` has not
    ///   installed it.
    package static func start(_ kind: Kind, tls: Bool = false) async throws -> ObjectServer {
        let python = Repository.file(".build/object-servers/bin/python").path
        let folder = try TemporaryFolder()
        let channel = try await OriginChannel.python(
            "\(kind.rawValue)_server.py",
            [folder.path] + (tls ? ["--tls", folder.path] : []),
            by: [python, "-W", "ignore"]
        )
        return ObjectServer(kind, try await channel.announcedPort(), tls, channel, folder)
    }

    private init(_ kind: Kind, _ port: Int, _ tls: Bool, _ channel: OriginChannel, _ folder: TemporaryFolder) {
        (self.kind, self.port, self.channel, self.folder) = (kind, port, channel, folder)
        certificateAuthorities = tls ? folder.path("ca.pem") : nil
    }

    /// A bucket's name with this server as its endpoint.
    ///
    /// - Parameters:
    ///   - prefix: of the keys.
    ///   - port: of a proxy before this server.
    /// - Returns: the name.
    package func name(_ prefix: String, port: Int? = nil) -> String {
        let host = certificateAuthorities == nil ? "http://127.0.0.1" : "https://localhost"
        return "s3://cameo/\(prefix)?endpoint=\(host):\(port ?? self.port)&region=us-east-1"
    }

    /// Its credentials, as a program finds them in its environment.
    package var environment: [String: String] {
        switch kind {
        case .swift: ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"]
        case .juicefs: ["AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "testing-secret"]
        }
    }
}

/// Runs one server of each kind for the whole of a suite. Each is a single process, so such suites are serialized: all tests at
/// a time would wait for it so long that time limits end them.
package struct ObjectServerScope: SuiteTrait, TestScoping {
    @TaskLocal package static var current: [ObjectServer.Kind: ObjectServer] = [:]

    let kinds: [ObjectServer.Kind]

    @concurrent
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        var servers: [ObjectServer.Kind: ObjectServer] = [:]
        for kind in kinds { servers[kind] = try await ObjectServer.start(kind) }
        try await Self.$current.withValue(servers, operation: function)
    }
}

extension Trait where Self == ObjectServerScope {
    package static func objectServers(_ kinds: ObjectServer.Kind...) -> ObjectServerScope {
        ObjectServerScope(kinds: kinds)
    }
}
