import CameoModel
import Foundation

/// Reads server-sent events as they come.
final class EventReader: Sendable {
    /// One block of a stream.
    struct Block: Sendable {
        var comment, id, name, data: String?

        /// The number of its id, in the first epoch of the feed.
        var number: Int? { id.flatMap { $0.hasPrefix("0-") ? Int($0.dropFirst(2)) : nil } }

        /// The job change of an event.
        var change: JobChange {
            get throws { try WireFormat.decode(JobChange.self, from: Data((data ?? "").utf8)) }
        }
    }

    private let connection: RawConnection
    private let blocks: AsyncStream<Block>

    init(port: UInt16, target: String, headers: [String: String]) throws {
        let connection = try RawConnection(port: port)
        self.connection = connection
        var lines = ["GET \(target) HTTP/1.1", "Host: localhost"]
        lines += headers.map { "\($0.key): \($0.value)" }
        connection.send(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        let (blocks, continuation) = AsyncStream<Block>.makeStream()
        self.blocks = blocks
        Thread.detachNewThread {
            let gap = Data("\n\n".utf8)
            var (rest, isHead) = (Data(), true)
            while let part = try? connection.receive() {
                // The lines of the chunked coding stay in: no field looks like them.
                rest += part.filter { $0 != UInt8(ascii: "\r") }
                while let end = rest.range(of: gap) {
                    if !isHead { continuation.yield(Self.block(rest[..<end.lowerBound])) }
                    isHead = false
                    rest = rest[end.upperBound...]
                }
            }
            continuation.finish()
        }
    }

    deinit { connection.end() }

    /// The next block; nil at the end. For one task alone.
    func next() async -> Block? {
        for await block in blocks { return block }
        return nil
    }

    /// The next changes of jobs, without comments.
    func changes(_ count: Int) async throws -> [JobChange] {
        var changes: [JobChange] = []
        while changes.count < count, let block = await next() {
            if block.name == "job" { changes.append(try block.change) }
        }
        return changes
    }

    private static func block(_ bytes: Data) -> Block {
        var block = Block()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = parts[1].trimmingCharacters(in: .whitespaces)
            switch parts[0] {
            case "": block.comment = value
            case "id": block.id = value
            case "event": block.name = value
            case "data": block.data = value
            default: break
            }
        }
        return block
    }
}
