import Cameo
import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// A session that reads through a store of one test's own, and the origin of the suite.
struct Reader {
    let origin: Origin
    let bench: Workbench
    let client: Client
    let session: URLSession

    init(
        _ rules: ReadThrough = ReadThrough(),
        basedOn base: URLSessionConfiguration = .ephemeral,
        memoryCapacity: Int = 33_554_432
    ) throws {
        let origin = try #require(OriginScope.current)
        try self.init(rules, basedOn: base, at: origin, memoryCapacity: memoryCapacity)
    }

    init(
        _ rules: ReadThrough,
        basedOn base: URLSessionConfiguration = .ephemeral,
        at origin: Origin,
        memoryCapacity: Int = 33_554_432
    ) throws {
        self.origin = origin
        bench = try Workbench()
        client = try Client(store: bench.path, memoryCapacity: memoryCapacity)
        session = URLSession(configuration: .cameo(client, readThrough: rules, basedOn: base))
    }

    /// A path that no other test asks for.
    static func path(_ name: String = "picture") -> String { "/scripted/\(name)-\(UUID().uuidString)" }

    func url(_ path: String, host: String = "127.0.0.1") throws -> URL {
        try #require(URL(string: origin.url(path, host: host)))
    }

    func get(
        _ url: URL,
        _ headers: [String: String] = [:],
        method: String = "GET",
        _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> Loaded {
        var request = URLRequest(url: url, cachePolicy: policy)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        return Loaded(data: data, response: try #require(response as? HTTPURLResponse))
    }

    func get(
        _ path: String,
        _ headers: [String: String] = [:],
        method: String = "GET",
        _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> Loaded {
        try await get(try url(path), headers, method: method, policy)
    }

    /// How often the origin was asked for the path.
    func count(_ path: String) async throws -> Int { try await origin.requests(of: path).count }
}

struct Loaded {
    let data: Data
    let response: HTTPURLResponse

    var text: String { String(decoding: data, as: UTF8.self) }
    var status: Int { response.statusCode }
    /// The member of this cache alone, without its details' numbers.
    var cacheStatus: String { self["Cache-Status"] ?? "" }

    subscript(field: String) -> String? { response.value(forHTTPHeaderField: field) }
}
