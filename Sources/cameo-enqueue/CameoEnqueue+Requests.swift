internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport
internal import Foundation

/// What a command line asks for, as requests; all that can be seen to be wrong is refused here.
extension CameoEnqueue {
    var storePath: [UInt8] {
        guard case .folder(let path) = StoreName(storeOptions.path) else { return [] }
        return Array(path.utf8)
    }

    /// Whether a live worker that takes such jobs is known to make frames of videos. A producer's role may know of none.
    func makeFrames(in store: any ReaderStore) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try await store.status().workers.contains { worker in
                worker.isAlive && worker.stopping == nil && worker.queues?.contains(job.queue) ?? true
                    && worker.lacks?.contains(HostLack.reading(.video).description) != true
            }
        } catch .denied { return false }
    }

    /// The same of the store that is named. What is wrong with it is said when it is opened for the requests.
    private func makeFrames() async throws -> Bool {
        guard let store = try? storeOptions.open(creating: false) else { return false }
        return try await store.finishing { try await makeFrames(in: store) }
    }

    func readRequests(_ named: [SourceArgument], _ made: [Rendition]) async throws -> RequestList {
        guard request.isEmpty else {
            let read = try request.map(readRequest)
            try check(read.lazy.flatMap(\.overlaySources), as: "overlay")
            return RequestList(read)
        }
        // The bytes of --data come later. A mistake in an option is a mistake for every source.
        let template = try prototype(source: "data:,", made)
        guard !data else {
            try job.expectUse(of: [template.source])
            try check(template.overlaySources, as: "overlay")
            return RequestList([template])
        }
        let sources = try await folders.expanded(named, store: storePath, notices, makeFrames: makeFrames)
        try refuse(sources.compactMap { source in fault(of: source.source).map { "\(source.name): \($0)" } })
        try job.expectUse(of: sources.map(\.source))
        // Only these have headers.
        let isFetched = JobOptions.isFetched
        let fetched = sources.contains { isFetched($0.source) } ? try prototype(source: "http://host/", made) : template
        let requests = RequestList(count: sources.count) { range in
            try sources[range].map { source in
                do {
                    return try (isFetched(source.source) ? fetched : template).replacing(source: source.source)
                } catch let error as InvalidRequest {
                    throw CommandFailure("\(source.name): \(error.reason)", .usage)
                }
            }
        }
        for number in sources.indices { _ = try requests.made(number..<number + 1) }
        if !sources.isEmpty { try check(template.overlaySources, as: "overlay") }
        return requests
    }

    private func readRequest(_ path: String) throws -> ThumbnailRequest {
        let data = try CommandFailure.naming("the request \(path) cannot be read") { try InputFile.read(path) }
        let request = try CommandFailure.naming("the request \(path) is invalid") {
            try ThumbnailRequest(parsing: data)
        }
        try check([request.source], as: "source")
        return request
    }

    /// - Throws: ``InvalidRequest`` for the source, ``ValidationError`` for anything else.
    func prototype(source: String, _ renditions: [Rendition]) throws -> ThumbnailRequest {
        var request = ThumbnailRequest(source: source, renditions: renditions)
        try job.apply(to: &request)
        do throws(InvalidRequest) {
            try request.validate()
        } catch {
            throw error.path == "source" ? error : TypedOption.mistake(error)
        }
        return request
    }

    // MARK: - Refusals

    private func fault(of source: String) -> String? {
        SourceFault.of(source, missing: allowMissing ? .allowed : .refused)
    }

    /// Refuses bad sources of request files; `role` names them in the message.
    func check(_ sources: some Sequence<String>, as role: String) throws(CommandFailure) {
        try refuse(
            Set(sources).sorted().compactMap { source in
                fault(of: source).map { "the \(role) \(SourceName.of(source)): \($0)" }
            }
        )
    }

    /// Reports all faults, or the first of very many.
    private func refuse(_ faults: [String]) throws(CommandFailure) {
        guard !faults.isEmpty else { return }
        let rest = faults.count - Self.namedFaults
        throw CommandFailure(
            faults.prefix(Self.namedFaults) + (rest > 0 ? ["and \(rest) more; nothing was enqueued"] : []),
            .usage
        )
    }

    private static let namedFaults = 20

    func readData() throws -> Data {
        let data = try CommandFailure.naming("--data: standard input cannot be read") {
            try InputFile.standardInput()
        }
        guard !data.isEmpty else { throw CommandFailure("--data: standard input is empty", .usage) }
        return data
    }
}

/// The requests of a command line. Those of a list of sources are made when they are enqueued: a list is long, and a
/// request is ten times as large as its source.
struct RequestList: Sendable {
    let count: Int
    let made: @Sendable (Range<Int>) throws -> [ThumbnailRequest]

    init(count: Int, made: @escaping @Sendable (Range<Int>) throws -> [ThumbnailRequest]) {
        (self.count, self.made) = (count, made)
    }

    init(_ requests: [ThumbnailRequest]) { self.init(count: requests.count) { Array(requests[$0]) } }
}
