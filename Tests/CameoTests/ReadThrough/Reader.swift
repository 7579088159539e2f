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

    /// `origin` is the suite's if it is nil.
    init(
        _ rules: ReadThrough = ReadThrough(),
        basedOn base: URLSessionConfiguration = .ephemeral,
        at origin: Origin? = nil,
        memoryCapacity: Int = 33_554_432
    ) throws {
        self.origin = try origin ?? #require(OriginScope.current)
        bench = try Workbench()
        client = try Client(store: bench.path, memoryCapacity: memoryCapacity)
        session = URLSession(configuration: .cameo(client, readThrough: rules, basedOn: base))
    }

    /// A reader, and a path at which the suite's origin answers by this script.
    static func scripted(
        _ answers: ScriptedAnswer...,
        rules: ReadThrough = ReadThrough(),
        basedOn base: URLSessionConfiguration = .ephemeral
    ) async throws -> (Reader, path: String) {
        let (reader, path) = (try Reader(rules, basedOn: base), Reader.path())
        try await reader.origin.script(path, answers)
        return (reader, path)
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
        try await session.get(url, headers, method: method, policy)
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

extension ScriptedAnswer {
    static let freshFields = ["Cache-Control: max-age=600", "Content-Type: image/png", "ETag: \"one\""]
    static let staleFields = ["Cache-Control: max-age=0", "Content-Type: image/png", "ETag: \"one\""]

    /// A picture that may be served for ten minutes.
    static func fresh(_ body: String = "picture", _ more: [String] = []) -> ScriptedAnswer {
        ScriptedAnswer(200, freshFields + more, body: body)
    }

    /// A picture that has to be validated first.
    static func stale(_ body: String) -> ScriptedAnswer { ScriptedAnswer(200, staleFields, body: body) }
}

extension URLSession {
    func get(
        _ url: URL,
        _ headers: [String: String] = [:],
        method: String = "GET",
        body: Data? = nil,
        _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> Loaded {
        var request = URLRequest(url: url, cachePolicy: policy)
        (request.httpMethod, request.httpBody) = (method, body)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await data(for: request)
        return Loaded(data: data, response: try #require(response as? HTTPURLResponse))
    }
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
