internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Routes each request to its handler.
struct WebResponder: HTTPResponder {
    static let contentTypeOptions = "nosniff"

    let site: Site

    func respond(to request: Request, context: WebContext) async throws -> Response {
        var route = Route.unknown
        var ignored: [String] = []
        var response: Response
        do {
            guard request.headers[.expect].map({ $0.lowercased() == "100-continue" }) ?? true else {
                throw Problem(.expectationFailed, "the only expectation is 100-continue")
            }
            try HostName.check(request, on: context.channel, site.configuration)
            let target = try RequestTarget(request.head.path ?? "", basePath: site.configuration.basePath)
            route = Route(target)
            if route == .unknown, !site.configuration.imgproxyKeys.isEmpty, target.firstSegment.rest != nil {
                route = .imgproxy
            }
            if let known = route.pictureItems { ignored = try target.query.unknown(besides: known) }
            let exchange = WebExchange(site: site, request: request, target: target, context: context)
            response = try await exchange.answer(route)
        } catch {
            let problem = Problem(erased: error)
            if problem.status.kind == .serverError || problem.isOthersFault {
                site.logger.log(
                    level: problem.isOthersFault ? .info : .error,
                    "cannot answer",
                    metadata: ["route": "\(route.rawValue)", "reason": "\((error as? Problem)?.detail ?? "\(error)")"]
                )
            }
            let mayRead = site.configuration.tokens.allow(.read, to: request)
            response = mayRead ? problem.response : problem.forStrangers.response
        }
        response.headers[.xContentTypeOptions] = Self.contentTypeOptions
        for field in site.configuration.allowedOrigins?.fields(for: request.headers[.origin]) ?? [:] {
            let others = field.name == .vary ? response.headers[.vary] : nil
            response.headers[field.name] = others.map { "\($0), \(field.value)" } ?? field.value
        }
        if !ignored.isEmpty, let name = HTTPField.Name("Cameo-Ignored-Query") {
            // Proxies refuse long heads.
            response.headers[name] = String(ignored.map(PercentEncoding.encoded).joined(separator: ", ").prefix(1_000))
        }
        if request.method == .head { response = response.withoutBody() }
        site.counters.count(route, response.status.code, bytes: response.body.contentLength ?? 0)
        return response
    }
}

/// A request on the way to its response. What answers the requests of each route is in the files of the handlers.
struct WebExchange {
    let site: Site
    let request: Request
    let target: RequestTarget
    let context: WebContext
    /// When the request's URL ends, in seconds since 1970; nil: never.
    private(set) var end: Int64?

    /// The same exchange at a URL that ends.
    ///
    /// - Throws: ``Problem`` with status 410 if it has ended.
    func ending(at end: Int64?) throws(Problem) -> WebExchange {
        if let end, end < Int64(Date().timeIntervalSince1970) { throw Problem(.gone, "the URL has expired") }
        var exchange = self
        exchange.end = end
        return exchange
    }

    func answer(_ route: Route) async throws -> Response {
        if let response = try site.configuration.allowedOrigins?.preflight(request) { return response }
        let isFacts = route == .thumbnail && target.firstSegment.rest?.hasSuffix(".json") == true
        if [.thumbnail, .source].contains(route), !isFacts {
            try check(allows: .get, .head, .delete)
            if request.method == .delete { return try await forget(named: route) }
        } else if ![.access, .jobs, .queues, .batches, .forget, .unknown].contains(route) {
            try check(allows: .get, .head)
        }
        switch route {
        case .thumbnail, .blob, .source, .placeholder: return try await content(route)
        case .health: return try await health()
        case .status: return try await status()
        case .metrics: return try await metrics()
        case .history: return try history()
        case .access: return try access()
        case .openAPI:
            try target.query.allow()
            let text = try site.api.value ?? APIDocument.text(basePath: site.configuration.basePath)
            site.api.value = text
            return Response(text: text, contentType: "application/json")
        case .jobs: return try await jobs()
        case .thumbnails: return try await thumbnails()
        case .events: return try await events()
        case .batches: return try await batches()
        case .queues: return try await queues()
        case .forget: return try await forget()
        case .failures: return try await failures()
        case .make: return try await make()
        case .imgproxy: return try await imgproxy()
        case .page: return try page()
        case .unknown: throw Problem(.notFound, "there is nothing at this path")
        }
    }

    /// Throws a ``Problem`` unless the request's method is one of `methods`.
    func check(allows methods: HTTPRequest.Method...) throws(Problem) {
        guard methods.contains(request.method) else {
            throw .methodNotAllowed(methods.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// Refuses query items other than these, and clients whose token does not allow `scope`; returns the token's name.
    @discardableResult
    func admit(_ scope: AccessTokens.Scope, _ items: [String] = []) throws(Problem) -> String {
        try target.query.allow(items)
        return try site.configuration.tokens.demand(scope, of: request)
    }
}

/// The route of a path, named after its first segment.
package enum Route: String, CaseIterable, Sendable {
    case thumbnail = "thumb"
    case thumbnails = "thumbs"
    case blob, source, placeholder, health, status, history, metrics, jobs, failures, events, batches, queues, forget,
        make, access
    case openAPI = "openapi.json"
    case page
    /// Begins with a signature.
    case imgproxy
    case unknown

    /// The items of a public picture's query; nil if the route is none. Others are ignored: sites and social networks append
    /// some to every URL.
    var pictureItems: [String]? {
        switch self {
        case .thumbnail: ["wait", "job", "box"]
        case .blob, .placeholder: []
        case .make: ["sig", "expires", "wait"]
        case .imgproxy: ["wait"]
        default: nil
        }
    }

    /// The fields of a request on which the answer of ``thumbnail`` does not depend, nor what follows on the connection: what
    /// browsers and proxies send with every request. Whoever lets one decide takes it out.
    package static let neutralFields: Set = [
        "accept", "accept-encoding", "accept-language", "authorization", "baggage", "cache-control", "cookie", "dnt",
        "forwarded", "from", "pragma", "priority", "purpose", "referer", "save-data", "sec-ch-ua",
        "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site",
        "sec-fetch-user",
        "sec-gpc", "sec-purpose", "traceparent", "tracestate", "upgrade-insecure-requests", "user-agent", "via",
        "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-real-ip", "x-request-id",
        "x-requested-with",
    ]

    init(_ target: RequestTarget) {
        let (name, _) = target.firstSegment
        switch name {
        case "": self = .page
        case "imgproxy", "unknown": self = .unknown
        default: self = Route(rawValue: String(name)) ?? .unknown
        }
    }
}

/// The store, the settings and the state that all request handlers share.
struct Site: Sendable {
    /// The allowed values of `wait`, in seconds.
    static let waitRange = 0.0...30.0

    let store: any Store
    let configuration: WebConfiguration
    let changes: StoreChanges
    let feed: ChangeFeed
    let history: History
    let files = VerifiedFiles()
    let memory: BlobMemory
    let uploads: UploadBudget
    let counters = RequestCounters()
    let making = MakingJobs()
    let readiness = Readiness()
    /// The OpenAPI document, once it was asked for.
    let api = Live<String?>(nil)
    let startedAt = Date()
    let logger: Logger

    init(store: any Store, configuration: WebConfiguration, logger: Logger) {
        (self.store, self.configuration, self.logger) = (store, configuration, logger)
        changes = StoreChanges(store: store)
        memory = BlobMemory(capacity: configuration.memoryCapacity)
        uploads = UploadBudget(limit: configuration.maximumUploadsInFlight)
        feed = ChangeFeed(store: store, beat: configuration.keepAlive / 2)
        history = History(store: store, pace: configuration.historyPace)
    }

    /// The path on this server that serves what a `cameo:` name refers to.
    func path(to uri: CameoURI) -> String {
        switch uri {
        case .thumbnail(let id): "\(configuration.basePath)/thumb/\(id)"
        case .blob(let digest): "\(configuration.basePath)/blob/\(digest)"
        case .source(let name): "\(configuration.basePath)/source/\(PercentEncoding.encoded(name))"
        }
    }
}

/// The context of a request, with its connection, which some responses close.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
