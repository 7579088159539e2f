import Cameo
import CameoSQLite
import CameoStore
import Foundation

// For deploy/bench. Prints milliseconds.
//   cameo-library-bench STORE THUMBNAILS BYTES make          makes a store with thumbnails of so many bytes
//   cameo-library-bench STORE THUMBNAILS BYTES read MEMORY   loads all of them twice by a session, one after the other, with
//                                                            so many bytes of memory; the time of the first and the second
let arguments = CommandLine.arguments
guard arguments.count >= 5, let count = Int(arguments[2]), let bytes = Int(arguments[3]) else {
    fatalError("usage: cameo-library-bench STORE THUMBNAILS BYTES make | read MEMORY")
}
switch arguments[4] {
case "make": try await make()
case "read": try await read(memory: arguments.count > 5 ? Int(arguments[5]) ?? 0 : 0)
default: fatalError("unknown measurement \(arguments[4])")
}

func requests() -> [ThumbnailRequest] {
    (0..<count)
        .map { ThumbnailRequest(source: "https://example.com/\($0).jpg", renditions: [Rendition(width: 256)]) }
}

func make() async throws {
    let store: any Store = try SQLiteStore(at: arguments[1])
    try await store.register(
        WorkerDescription(id: "bench", host: "here", pid: 1, version: CameoVersion.current, concurrency: 32)
    )
    _ = try await store.enqueue(requests())
    let wanted = ClaimRequest(limit: 128, background: 128, kind: .usual, queues: nil, for: "bench")
    while case let jobs = try await store.claim(wanted), !jobs.isEmpty {
        for job in jobs { try await complete(job, in: store) }
    }
    try await store.deregister("bench", adding: StoreCounters())
    await store.finish()
    store.close()
}

func complete(_ job: ClaimedJob, in store: any Store) async throws {
    let request = try job.parsedRequest()
    var picture = Data("RIFF____WEBPVP8 ".utf8)
    while picture.count < bytes { picture.append(.random(in: 0...255)) }
    let encoded = EncodedRendition(
        bytes: picture,
        width: 256,
        height: 192,
        format: .webp,
        hasAlpha: false,
        frames: 1,
        placeholder: Placeholder(
            thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
            blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
            dominantColor: Color(red: 1, green: 2, blue: 3, alpha: 255)
        )
    )
    let rendered = zip(try request.thumbnailIDs(), request.renditions)
        .map { RenderedThumbnail(id: $0, rendition: $1, encoded: encoded) }
    let provenance = Provenance(
        source: try SourceIdentity(of: request.source),
        sourceDigest: BlobDigest(of: Data(request.source.utf8)),
        sourceSeen: job.begun.sourceSeen,
        rendererVersion: "bench",
        picture: PictureFacts(format: .jpeg, width: 4_000, height: 3_000, pages: 1, hasAlpha: false),
        isTruncated: false
    )
    try await store.settle(job.claim, as: .complete(.rendered(rendered, provenance)), timings: AttemptTimings())
}

func read(memory: Int) async throws {
    let client = try Client(store: arguments[1], memoryCapacity: memory)
    let session = URLSession.cameo(client)
    let urls = try requests().map { CameoURI.thumbnail(try $0.thumbnailIDs()[0]).url }
    // The first load opens files and compiles statements.
    _ = try await session.data(from: urls[0])
    var times: [String] = []
    for _ in 0..<2 {
        let started = ContinuousClock.now
        for url in urls { _ = try await session.data(from: url) }
        times.append(String(format: "%.1f", started.duration(to: .now) / .milliseconds(1)))
    }
    print(times.joined(separator: " "))
}
