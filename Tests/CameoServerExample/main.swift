import Cameo
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle

// cameo-server-example STORE SOCKET: takes pictures by POST /pictures, and serves their thumbnails.
let client = try Client(store: CommandLine.arguments[1])
let session = URLSession.cameo(client)
let router = Router()

router.post("pictures") { request, _ in
    let picture = try await request.body.collect(upTo: 20_000_000)
    let square = Rendition(width: 256, height: 256, fit: .cover)
    let job = try await client.enqueue(data: Data(picture.readableBytesView), renditions: [square])
    let id = job.thumbnails[0].uri.url.lastPathComponent
    return Response(status: .created, headers: [.location: "/thumb/\(id)"])
}

// Types, ETags and answers to If-None-Match are the session's. A thumbnail that is not made yet is waited for.
router.get("thumb/:id") { request, context in
    let name = "cameo://thumb/\(try context.parameters.require("id"))"
    guard let uri = CameoURI(name) else { throw HTTPError(.notFound) }
    var load = URLRequest(url: uri.url(waiting: 10))
    load.setValue(request.headers[.ifNoneMatch], forHTTPHeaderField: "If-None-Match")
    guard let (bytes, answer) = try? await session.data(for: load), let answer = answer as? HTTPURLResponse else {
        throw HTTPError(.notFound)
    }
    var response = Response(status: .init(code: answer.statusCode), body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    for name in [HTTPField.Name.contentType, .eTag, .cacheControl] {
        response.headers[name] = answer.value(forHTTPHeaderField: name.canonicalName)
    }
    return response
}

/// Tells how each job ended.
struct Log: Service {
    func run() async throws {
        for try await change in try await client.events().cancelOnGracefulShutdown() where change.state.isFinal {
            FileHandle.standardOutput.write(Data("job \(change.job): \(change.state)\n".utf8))
        }
    }
}

// One service group: SIGTERM and SIGINT end both.
var app = Application(router: router, configuration: .init(address: .unixDomainSocket(path: CommandLine.arguments[2])))
app.addServices(Log())
try await app.runService()
await client.finish()
