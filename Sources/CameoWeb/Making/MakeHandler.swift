internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

// DESIGN. `/make/RENDITION/SOURCE` is for the first view of a picture: an existing thumbnail is served as it is, and a
// missing one becomes a job. URLs must be signed; otherwise anyone who finds the server could make it render every size
// of every picture. The signature covers the decoded rendition, source and expiry, joined with line feeds, so a proxy
// that re-encodes the URL does not break it, nor does one that merges slashes or appends one. It does not cover `wait`, which is the client's choice.

/// Makes thumbnails on first request.
extension WebExchange {
    private static let queue = "web"
    /// The priority of these jobs, in minutes of waiting: someone is looking at the page.
    private static let priority = 20
    private static let schemes: Set = ["http", "https", "cameo", "initials"]

    func make() async throws -> Response {
        let configuration = site.configuration
        guard configuration.allowsUnsigned || !configuration.signingKeys.isEmpty else {
            let reason = "this server does not make thumbnails on demand: it was started without --sign-key"
            throw Problem(.notFound, reason)
        }
        let (first, rest) = RequestTarget.split(target.firstSegment.rest ?? "")
        guard let rest, !rest.isEmpty else {
            throw Problem(.notFound, "nothing here: the path is /make/RENDITION/SOURCE")
        }
        let text = try RequestTarget.decoded(first)
        let (source, expires) = try verified(try RequestTarget.decoded(rest), as: text)
        let rendition = try RenditionName.rendition(text, configuration.presets)
        return try await ending(at: expires).make(source, as: rendition, within: try target.query.wait())
    }

    /// Responds with a thumbnail, which is made first if it does not exist, or with its placeholder after `patience`.
    func make(_ source: String, as rendition: Rendition, within patience: Duration) async throws -> Response {
        // file: is excluded: clients must not be able to probe this machine's files. What the store holds is for those who
        // may read it, or whom they gave a signed URL.
        let schemes = site.configuration.allowsUnsigned ? Self.schemes.subtracting(["cameo"]) : Self.schemes
        guard let scheme = URIScheme.of(source), schemes.contains(scheme) else {
            let known = schemes.sorted().joined(separator: ", ")
            let reason = "the source must be a percent-encoded URI with one of the schemes \(known)"
            throw Problem(.badRequest, reason, code: .sourceUnsupportedScheme)
        }
        let asked = ThumbnailRequest(
            source: source,
            renditions: [rendition],
            queue: Self.queue,
            priority: Self.priority,
            refresh: .never
        )
        try asked.validate()
        let id = try asked.thumbnailIDs()[0]
        if let content = try await site.store.made(id) { return try await serve(content) }
        let job: Int64?
        if let known = try await site.making.job(of: id, in: site.store) {
            job = known
        } else {
            job = try await site.store.enqueue([asked])[0].id
            if let job { site.making.note(job, of: id) }
        }
        let pending = PendingThumbnail(id, job: job, rendition: rendition)
        do {
            switch try await pending.wait(patience, on: site) {
            case .made(let content): return try await serve(content)
            case .missing(let promise, let hasEnded):
                return try await pending.answer(to: request, on: site, promise, hasEnded: hasEnded)
            }
        } catch var problem as Problem where problem.code != nil {
            problem.headers[.retryAfter] = "\(MakingJobs.patience.components.seconds)"
            throw problem
        }
    }

    /// What a part of a URL was when it was signed; nil if it was not. `verified` says of each key whether it has signed a
    /// text. On its way, a cache may have merged the slashes after the source's scheme, or appended one.
    func original(of text: String, verified: (String) -> [Bool]) -> String? {
        let texts = [text.replacing(#/(^|\/plain\/)(https?|cameo):\/(?!\/)/#) { "\($0.1)\($0.2)://" }, text]
        // All are tried, and with every key, so that the response time does not reveal which one matched.
        return (texts + texts.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
            .filter { verified($0).contains(true) || site.configuration.allowsUnsigned }.first
    }

    /// The source that was signed, and when its URL ends.
    private func verified(_ text: String, as rendition: String) throws(Problem) -> (String, expires: Int64?) {
        let configuration = site.configuration
        let (signature, expires) = (target.query["sig"], target.query["expires"])
        guard configuration.allowsUnsigned || signature != nil else {
            throw Problem(.forbidden, "the URL is not signed: it has no sig=")
        }
        let source = original(of: text) { source in
            let message = Array("\(rendition)\n\(source)\n\(expires ?? "")".utf8)
            return configuration.signingKeys.map { $0.verifies(signature ?? "", of: message) }
        }
        guard let source else { throw Problem(.forbidden, "the URL's signature is wrong") }
        guard !configuration.allowsUnsigned, let expires else { return (source, nil) }
        guard let time = Int64(expires) else { throw Problem(.badRequest, "expires must be seconds since 1970") }
        return (source, time)
    }
}

/// The jobs of recently requested thumbnails. A page with many viewers must not enqueue a job for each view, neither
/// while the first job runs nor after it has failed.
final class MakingJobs: Sendable {
    /// How long a failure is remembered before a new job is enqueued.
    static let patience = Duration.seconds(60)
    private static let limit = 10_000
    private let jobs = Mutex<[ThumbnailID: Int64]>([:])

    func note(_ job: Int64, of thumbnail: ThumbnailID) {
        jobs.withLock { jobs in
            if jobs.count >= Self.limit { jobs.removeAll() }
            jobs[thumbnail] = job
        }
    }

    /// The job that is making the thumbnail, or that recently failed to; nil if a new job is needed.
    func job(of thumbnail: ThumbnailID, in store: any ReaderStore) async throws(StoreError) -> Int64? {
        guard let id = jobs.withLock({ $0[thumbnail] }) else { return nil }
        do throws(StoreError) {
            let job = try await store.jobInPlace(of: id)
            switch job.state {
            case .scheduled, .available, .running, .retryable: return id
            // A completed job's thumbnail has been removed since.
            case .completed, .cancelled: return nil
            case .discarded:
                let age = job.finalizedAt.map { Date().timeIntervalSince($0) } ?? .infinity
                return age < Self.patience.seconds ? id : nil
            }
        } catch .noSuchJob {
            return nil
        }
    }
}

/// The syntax of a rendition in a URL: a size as on the command line (`256x256:cover:webp:q75`), or a rendition of a
/// preset (`gallery:grid`; `gallery` alone is its first one).
enum RenditionName {
    static func rendition(_ text: String, _ presets: PresetFile) throws -> Rendition {
        if text.first.map({ $0.isASCII && $0.isNumber }) == true
            || text.hasPrefix("x") && text.dropFirst().first?.isNumber == true
        {
            return try size(text)
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let preset = presets[parts[0]] else { throw unknown(parts[0], presets) }
        guard parts.count == 2 else { return preset.renditions[0] }
        guard let rendition = preset.renditions.first(where: { $0.name == parts[1] }) else {
            let names = preset.renditions.map(\.name).joined(separator: ", ")
            throw Problem(.badRequest, "the preset \(parts[0]) has no rendition \"\(parts[1])\" (it has \(names))")
        }
        return rendition
    }

    static func unknown(_ name: String, _ presets: PresetFile) -> Problem {
        let names = presets.all.map(\.name).joined(separator: ", ")
        let reason = "unknown size or preset \"\(name)\" (the presets are \(names))"
        return Problem(.badRequest, reason, code: .requestInvalid)
    }

    /// - Throws: `Problem`, or `InvalidRequest` for numbers out of range.
    static func size(_ text: String) throws -> Rendition {
        let size = try Result { () throws(InvalidRequest) in try RenditionSize(parsing: text) }
            .mapError { Problem(.badRequest, "\"\(text)\" is not a rendition: \($0.reason)", code: .requestInvalid) }
            .get()
        let rendition = Rendition(
            width: size.width,
            height: size.height,
            fit: size.fit ?? .inside,
            format: size.format ?? .auto,
            quality: size.quality
        )
        try rendition.validate(at: "")
        return rendition
    }
}

/// A secret key that signs `/make` URLs with HMAC-SHA256 (RFC 2104).
package struct SigningKey: Sendable {
    /// The fewest bytes in a key; a shorter one could be guessed.
    package static let minimumBytes = 16
    private let key: HMACKey

    /// Returns nil if the secret is shorter than ``minimumBytes``.
    package init?(_ secret: [UInt8]) {
        guard secret.count >= Self.minimumBytes else { return nil }
        key = HMACKey(secret)
    }

    /// The signature of a message, as 64 lower-case hexadecimal digits.
    package func signature(of message: some Sequence<UInt8>) -> String { Hexadecimal.encode(key.code(of: message)) }

    /// Verifies a signature in constant time.
    func verifies(_ signature: String, of message: some Sequence<UInt8>) -> Bool {
        HMACKey.areSame(self.signature(of: message).utf8, signature.utf8)
    }
}
