import Cameo
import Foundation

// cameo-example STORE PICTURE: stores a picture, has a thumbnail made of it, and loads both by URL.
let client = try Client(store: CommandLine.arguments[1])
let picture = try Data(contentsOf: URL(filePath: CommandLine.arguments[2]))
let session = URLSession.cameo(client)  // any framework that takes a URLSessionConfiguration: .cameo(client)

let original = try await client.store(picture)
let (bytes, response) = try await session.data(from: original.url)
print(original, response.mimeType ?? "", bytes == picture ? "same bytes" : "other bytes")

var avatar = Rendition(width: 256, height: 256, fit: .cover, gravity: .attention)
avatar.look.cornerRadius = .circle
var request = ThumbnailRequest(source: original, renditions: [avatar])
request.metadata = ["user": 42]
let job = try await client.enqueue(request)
let thumbnail = job.thumbnails[0].uri
print(thumbnail, job.state)

// A worker on the same store makes it; wait for that, at most 30 seconds.
let (small, _) = try await session.data(from: thumbnail.url(waiting: 30))
if let blob = try await client.thumbnails(for: job)[0].blob {
    let stored = try await client.data(for: blob)
    print(small.count, "bytes", stored == small ? "as stored" : "not as stored")
}
await client.finish()  // so that a short program leaves no long log; without it nothing breaks
