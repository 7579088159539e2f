import Cameo
import Foundation

// The code of the README and of the articles in Cameo.docc, where `DocumentationTests` looks for it line by line.

func roundAvatar(store: String, photo: Data) async throws -> Data {
    let client = try Client(store: store)
    let session = URLSession.cameo(client)  // for a framework: URLSessionConfiguration.cameo(client)
    var avatar = Rendition(width: 256, height: 256, fit: .cover, gravity: .attention)
    avatar.look.cornerRadius = .circle
    let job = try await client.enqueue(data: photo, renditions: [avatar])
    let (thumbnail, response) = try await session.data(from: job.thumbnails[0].uri.url(waiting: 30))
    print(response.mimeType ?? "")
    return thumbnail
}

func makeThumbnails(_ client: Client, of picture: Data) async throws -> [Data] {
    var large = Rendition(width: 1600, format: .jpeg, quality: 85)
    large.encoding.progressive = true
    let square = Rendition(width: 256, height: 256, fit: .cover, gravity: .attention)
    let job = try await client.enqueue(data: picture, renditions: [square, large])
    for thumbnail in job.thumbnails { print(thumbnail.name, thumbnail.uri) }

    for try await status in client.events(of: job) {
        print(status.state, status.failure?.message ?? "")
    }

    var pictures: [Data] = []
    for thumbnail in try await client.thumbnails(for: job) where thumbnail.blob != nil {
        pictures.append(try await client.data(for: thumbnail.uri))
    }
    return pictures
}

func loadBytes(_ client: Client, _ uri: CameoURI) async throws -> Data? {
    let session = URLSession.cameo(client)
    do {
        let (data, response) = try await session.data(from: uri.url)
        print(response.mimeType ?? "", data.count)
        return data
    } catch CameoURLError.noDataAvailable(let url) {
        print("not made yet:", url)
    } catch CameoURLError.damagedData(let url) {
        print("enqueue it again:", url)
    }
    return nil
}

func listThumbnails(_ client: Client, of label: String) async throws -> [ThumbnailFacts] {
    var filter = ThumbnailFilter()
    filter.label = label
    let page = try await client.thumbnails(where: filter)  // and then with after: page.next, while there is one
    for facts in page.thumbnails { print(facts.thumbnail.uri, facts.source, facts.labels) }
    let known = try await client.facts(of: page.thumbnails.map(\.thumbnail.uri))
    return known
}

func loadToFile(_ client: Client, _ uri: CameoURI, folder: URL) async throws -> Data {
    let session = URLSession.cameo(client)
    let file = folder.appending(path: "thumbnail.webp")
    let (data, _) = try await session.data(from: uri.url)
    try data.write(to: file, options: .atomic)
    return try Data(contentsOf: file)
}

func writeToFile(_ client: Client, _ uri: CameoURI, folder: URL) async throws -> Data {
    let file = folder.appending(path: "original")
    try await client.write(uri, to: file)
    return try Data(contentsOf: file)
}

func loadCount(_ client: Client, _ uri: CameoURI) async throws -> Int {
    let count = Resource(uri) { data in data.count }
    return try await client.load(count)
}

func loadThrough(_ client: Client, _ url: URL) async throws -> Data {
    let rules = ReadThrough(defaultLifetime: .seconds(86_400), budget: 500_000_000)
    let session = URLSession.cameo(client, readThrough: rules)
    let (data, response) = try await session.data(from: url)
    print(response.mimeType ?? "")
    return data
}

func enqueueAvatar(_ client: Client, _ picture: Data) async throws -> EnqueueReceipt {
    let job = try await client.enqueue(
        data: picture,
        renditions: [Rendition(width: 256, height: 256, fit: .cover)],
        cacheKey: "user:42/avatar"
    )
    return job
}

func forgetAvatar(_ client: Client) async throws -> ForgottenSource {
    let forgotten = try await client.forget("user:42/avatar", .originalsAndThumbnails)
    return forgotten
}

func empty(
    _ outbox: [(row: Int, text: String)],
    _ client: Client,
    delete: (Int, EnqueueReceipt) async throws -> Void
) async throws {
    for (row, text) in outbox {
        let job = try await client.enqueue(ThumbnailRequest(parsing: text.utf8))
        try await delete(row, job)
    }
}

func retrySlowSources(_ client: Client) async throws -> BulkProgress {
    var slow = JobFilter()
    slow.codes = [.sourceTimeout]
    slow.sourcePrefix = "https://shop.example/"
    let meant = try await client.retry(slow, .dryRun)
    let done = try await client.retry(slow, limit: 1_000)
    print(done.changed, "of", meant.matched, "jobs are available again")
    return done
}

func followAll(_ client: Client, from last: Int64) async throws {
    var cursor = last
    for try await change in try await client.events(since: cursor) {
        print(change.job, change.state)
        cursor = change.cursor
    }
}

func slowImports(_ client: Client) async throws {
    try await client.limit(queue: "imports", toRate: try StartRate(300, per: .seconds(60)))
}

func stopAll(_ client: Client) async throws {
    for worker in try await client.status().workers {
        do {
            try await client.stopWorker(worker.id)
        } catch .noSuchWorker {
            // It has ended by itself since.
        }
    }
}

func end(_ client: Client) async {
    await client.finish()
}

func openWithMemory(_ path: String) throws -> Int {
    let client = try Client(store: path, memoryCapacity: 100_000_000)
    return client.memoryUse.capacity
}

enum PictureStore {
    static func open() -> Client? { try? Client(store: "/srv/pictures") }
}

final class PictureProtocol: CameoURLProtocol {
    static let client = PictureStore.open()
    override class var cameoClient: Client? { client }
}

enum ArticleExamples {
    /// Returns once there is a first job.
    static func untilEnqueued(_ client: Client) async throws {
        while true {
            do {
                _ = try await client.status(of: 1)
                return
            } catch CameoError.noSuchJob {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
