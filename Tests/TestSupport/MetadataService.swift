internal import Foundation

/// The service that gives out the credentials of a machine's role: see `metadata_service.py`. It ends with its last
/// reference, or with the test process.
package final class MetadataService: Sendable {
    private let port: Int
    private let channel: OriginChannel

    /// Starts a service whose credentials end so many seconds after they were asked for.
    package static func start(keyID: String, secret: String, seconds: Int) async throws -> MetadataService {
        let arguments = [keyID, secret, "token", String(seconds)]
        let channel = try await OriginChannel.python("metadata_service.py", arguments)
        return MetadataService(port: try await channel.announcedPort(), channel: channel)
    }

    private init(port: Int, channel: OriginChannel) {
        (self.port, self.channel) = (port, channel)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// How often credentials were given out.
    package func given() async throws -> Int {
        let answer = try await channel.ask("given")
        guard let count = Int(answer) else { throw OriginError.unexpected(answer) }
        return count
    }
}
