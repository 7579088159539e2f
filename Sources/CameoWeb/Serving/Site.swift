internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Logging

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
    /// The OpenAPI document.
    let api: APIText
    let startedAt = Date()
    let logger: Logger

    init(store: any Store, configuration: WebConfiguration, logger: Logger) {
        self.store = store
        self.configuration = configuration
        self.logger = logger
        changes = StoreChanges(store: store)
        memory = BlobMemory(capacity: configuration.memoryCapacity)
        uploads = UploadBudget(limit: configuration.maximumUploadsInFlight)
        api = APIText(basePath: configuration.basePath)
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
