internal import Foundation

/// Servers that break HTTP, each behaviour on a port of its own: `rude.py` lists them. They end with their last
/// reference, or with the test process.
package final class RudeServers: Sendable {
    private let ports: [String: Int]
    private let channel: OriginChannel

    package static func start() async throws -> RudeServers {
        let channel = try await OriginChannel.python("rude.py")
        let announcement = try await channel.announcement()
        let ports = try JSONDecoder().decode([String: Int].self, from: Data(announcement.utf8))
        return RudeServers(ports: ports, channel: channel)
    }

    private init(ports: [String: Int], channel: OriginChannel) {
        self.ports = ports
        self.channel = channel
    }

    /// - Throws: ``OriginError`` for a behaviour that is none.
    package func url(_ behaviour: String) throws -> String {
        guard let port = ports[behaviour] else { throw OriginError.unexpected(behaviour) }
        return "http://127.0.0.1:\(port)/picture.png"
    }

    /// What `rude.py` can do.
    package var behaviours: Set<String> { Set(ports.keys) }
}
