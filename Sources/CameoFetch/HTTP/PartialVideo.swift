internal import CameoHTTPCache
internal import CameoModel
internal import CameoSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// A large video on an HTTP server, of which only those parts are loaded that its reader needs.
///
/// DESIGN: the first bytes of a response tell that it is a video. Its transfer is then given up, and the parts are requested
/// with a strong validator, so that all are of one version; any other answer is a changed source. They fill a memory file of
/// the video's size, whose holes are what is missing: the reader sees what is there without any other list. It gets a
/// descriptor that cannot write.
final class PartialVideo: VideoParts {
    /// Smaller videos are downloaded as a whole.
    static let leastBytes = 8 << 20
    private static let partBytes = 1 << 20

    private struct State {
        var loaded: Set<Int> = []
        var reservations: [ByteReservation] = []
        var bytes = 0
        /// What is left of the total time.
        var time: Duration
    }

    /// For the reader.
    let file: OpenFile
    private let writable: OpenFile
    private let response: PartialResponse
    private let route: HTTPRoute
    private let cookies: [String]
    private let transport: HTTPTransport
    private let state: Mutex<State>

    /// `response` was given up; `cookies` are those of its redirects, and `time` is what is left of the total time.
    ///
    /// - Throws: the errno of memfd_create or of what follows it.
    init(
        _ response: PartialResponse,
        at route: HTTPRoute,
        _ cookies: [String],
        by transport: HTTPTransport,
        within time: Duration
    ) throws(Errno) {
        writable = try OpenFile.memory()
        guard ftruncate(writable.descriptor, response.total) == 0 else { throw Errno() }
        file = try OpenFile(opened: open(writable.magicLink, O_RDONLY | O_CLOEXEC))
        self.response = response
        (self.route, self.cookies) = (route, cookies)
        self.transport = transport
        state = Mutex(State(time: time))
    }

    /// The size of the video in bytes.
    var size: Int { response.total }

    var loadedBytes: Int { state.withLock(\.bytes) }

    /// What is left of the total time.
    var timeLeft: Duration { state.withLock(\.time) }

    /// Loads the first part, and returns a digest that only the same version has: of its validator, its size and this part.
    ///
    /// - Throws: as ``HTTPTransport/part(_:of:at:_:within:_:)``.
    func loadFirst(_ clock: WorkClock) async throws -> BlobDigest {
        let first = try await load(0, clock)
        return BlobDigest(of: Data("\(response.version) \(first.hex)".utf8))
    }

    func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool {
        let wanted = Set(offsets.filter { $0 < size }.map { $0 / Self.partBytes })
        let missing = state.withLock { wanted.subtracting($0.loaded) }
        for part in missing.sorted() {
            do {
                _ = try await load(part, clock)
            } catch is HTTPTransport.RestRefused {
                throw JobFailure.fetch(.sourceChanged, "\(route.description) changed while it was read")
            }
        }
        return !missing.isEmpty
    }

    private func load(_ part: Int, _ clock: WorkClock) async throws -> BlobDigest {
        let bytes = part * Self.partBytes..<min(size, (part + 1) * Self.partBytes)
        let limits = transport.configuration
        let (loaded, time) = state.withLock { ($0.bytes, $0.time) }
        guard loaded + bytes.count <= limits.maximumBytes else {
            let message = "needs more than the allowed \(limits.maximumBytes) of its \(size) bytes"
            throw JobFailure.fetch(.sourceTooLarge, "\(route.description) \(message)")
        }
        let reservation = try await limits.budget.reserve(bytes.count, for: .overlay, clock)
        let (body, elapsed) = try await transport.part(bytes, of: response, at: route, cookies, within: time, clock)
        do throws(Errno) {
            guard let data = body.mapped() else { throw Errno(ENOMEM) }
            try writable.write(data, at: bytes.lowerBound)
        } catch {
            throw JobFailure.fetch(route.description, lacking: error)
        }
        state.withLock { state in
            state.loaded.insert(part)
            state.reservations.append(reservation)
            state.bytes += bytes.count
            state.time -= elapsed
        }
        return body.digest
    }
}
