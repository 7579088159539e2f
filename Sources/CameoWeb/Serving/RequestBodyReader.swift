internal import CameoModel
internal import CameoSystem
internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOPosix

/// The body of a request, and what it may be.
struct RequestBodyReader {
    private let request: Request
    private let channel: any Channel
    private let site: Site
    /// What has arrived counts as an upload as long as this reader.
    private let share: UploadBudget.Share

    /// - Throws: ``Problem`` if the body is a coding or a part of what is sent: nothing here decodes or completes it.
    init(_ request: Request, _ context: WebContext, _ site: Site) throws(Problem) {
        (self.request, channel, self.site) = (request, context.channel, site)
        share = site.uploads.share()
        for field in [HTTPField.Name.contentEncoding, .transferEncoding] {
            let codings = request.headers[values: field].joined(separator: ",").lowercased().split(separator: ",")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let unknown = codings.first(where: { !["", "identity", "chunked"].contains($0) }) else { continue }
            let reason = "\(field): \(unknown): the body must have no coding"
            throw Problem(.unsupportedMediaType, reason, headers: [.acceptEncoding: "identity"])
        }
        guard request.headers[.contentRange] == nil else {
            throw Problem(.badRequest, "Content-Range: must be absent, as a body is taken whole")
        }
    }

    /// Reads the whole body. `what` names the content in the
    /// message, such as "a picture".
    func read(atMost limit: Int, _ what: String) async throws -> Data {
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        if let announced, announced > limit { throw Self.tooLarge(what, limit) }
        channel.triggerUserOutboundEvent(HTTP1Rules.BodyIsWanted(), promise: nil)
        let (body, share, configuration) = (request.body, share, site.configuration)
        return try await withThrowingTaskGroup(of: Data.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var spool = BodySpool()
                do {
                    for try await buffer in body {
                        guard spool.count + buffer.readableBytes <= limit else { throw Self.tooLarge(what, limit) }
                        try share.grow(by: buffer.readableBytes)
                        try await spool.append(buffer.readableBytesView)
                    }
                } catch  where !(error is Problem || error is CancellationError) {
                    throw Self.brokenOff
                }
                guard spool.count == announced ?? spool.count else { throw Self.brokenOff }
                return try await spool.contents()
            }
            group.addTask { try await Self.watch(share, configuration) }
            return try await group.next() ?? Data()
        }
    }

    /// That a body breaks off is the client's doing.
    private static var brokenOff: Problem {
        Problem(.badRequest, "the body is malformed or broke off", isOthersFault: true)
    }

    /// Waits for a body that takes too long.
    ///
    /// - Throws: ``Problem`` with status 408.
    private static func watch(_ share: UploadBudget.Share, _ configuration: WebConfiguration) async throws -> Never {
        let (patience, pace) = (configuration.bodyPatience, configuration.bodyPace)
        let end = ContinuousClock.now + patience
        var seen = 0
        repeat {
            try await Task.sleep(until: min(end, .now + pace))
            defer { seen = share.count }
            guard ContinuousClock.now < end, Double(share.count - seen) >= pace.seconds * 1_024 else { break }
        } while true
        let limits = "less than 1 KiB/s arrived, or not all within \(patience.milliseconds) ms"
        throw Problem(.requestTimeout, "the body is too slow: \(limits)", isOthersFault: true)
    }

    static func tooLarge(_ what: String, _ limit: Int) -> Problem {
        Problem(.contentTooLarge, "\(what) may have at most \(limit) bytes", code: .sourceTooLarge)
    }
}

/// Collects a request's body: in memory up to a mebibyte, and beyond that in a file that has no name and that goes when
/// the last reference to its bytes does. An upload thus takes little memory, whatever its size.
struct BodySpool {
    private static let memory = 1_048_576
    /// A folder that is on a disk even where `/tmp` is memory.
    private static let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"

    /// The bytes that are not in the file.
    private var tail = Data()
    private var file: OpenFile?
    private(set) var count = 0

    mutating func append(_ bytes: some Collection<UInt8>) async throws {
        tail.append(contentsOf: bytes)
        count += bytes.count
        if tail.count >= Self.memory { try await writeTail() }
    }

    /// All bytes; those in a file are mapped, not read.
    mutating func contents() async throws -> Data {
        guard let file else { return tail }
        try await writeTail()
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            throw Self.failure(Errno())
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .unmap)
    }

    private mutating func writeTail() async throws {
        let (bytes, known) = (tail, file)
        file = try await NIOThreadPool.singleton.runIfActive {
            do {
                let file = try known ?? OpenFile.unnamed(in: Self.folder)
                try bytes.withUnsafeBytes { try file.write($0) }
                return file
            } catch let error as Errno {
                throw Self.failure(error)
            }
        }
        tail.removeAll(keepingCapacity: true)
    }

    private static func failure(_ error: Errno) -> Problem {
        let status: HTTPResponse.Status = [ENOSPC, EDQUOT].contains(error.code) ? .outOfSpace : .serviceUnavailable
        let reason = "the upload cannot be kept"
        return Problem(status, "\(reason) in \(folder): \(error)", public: reason)
    }
}
