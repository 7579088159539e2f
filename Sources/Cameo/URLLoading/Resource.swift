public import Foundation

/// A request and a function that turns its response into a value of the program's own type.
public struct Resource<Value: Sendable>: Sendable {
    /// The request, unchanged.
    public let request: URLRequest
    private let parse: @Sendable (Data, URLResponse) throws -> Value

    /// - Parameters:
    ///   - request: a request of any scheme that the session supports.
    ///   - parse: makes the value. It is called for every response, whatever its status.
    public init(_ request: URLRequest, parse: @escaping @Sendable (Data, URLResponse) throws -> Value) {
        self.request = request
        self.parse = parse
    }

    /// A resource whose value depends on its bytes alone.
    public init(_ uri: CameoURI, parse: @escaping @Sendable (Data) throws -> Value) {
        self.init(URLRequest(url: uri.url)) { data, _ in try parse(data) }
    }

    func value(of data: Data, _ response: URLResponse) throws -> Value { try parse(data, response) }
}

extension URLSession {
    /// Loads and parses a resource. Cancelling the task cancels the transfer.
    ///
    /// - Throws: the error of the transfer or of `parse`; for `cameo:` URLs a ``CameoURLError``.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let (data, response) = try await data(for: resource.request)
        try Task.checkCancellation()
        return try resource.value(of: data, response)
    }
}

extension Client {
    /// Loads and parses a resource of this store without a session.
    ///
    /// - Throws: the error of `parse`, ``CameoURLError``, or `CancellationError`.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let answer = try await answer(to: resource.request)
        return try resource.value(of: answer.body, answer.response)
    }
}
