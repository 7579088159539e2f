public import Foundation

/// A request and how to read its answer: what is loaded is a value of the program's own type.
public struct Resource<Value: Sendable>: Sendable {
    /// What is sent, as it was given.
    public let request: URLRequest
    private let parse: @Sendable (Data, URLResponse) throws -> Value

    /// - Parameters:
    ///   - request: of any scheme that the session knows.
    ///   - parse: makes the value; is given every response, whatever its status.
    public init(_ request: URLRequest, parse: @escaping @Sendable (Data, URLResponse) throws -> Value) {
        self.request = request
        self.parse = parse
    }

    /// A resource that is read by its bytes alone.
    public init(_ uri: CameoURI, parse: @escaping @Sendable (Data) throws -> Value) {
        self.init(URLRequest(url: uri.url)) { data, _ in try parse(data) }
    }

    func value(of data: Data, _ response: URLResponse) throws -> Value { try parse(data, response) }
}

extension URLSession {
    /// Loads and reads a resource. Cancelling the task cancels the transfer.
    ///
    /// - Throws: what the transfer or the resource's `parse` throws; for `cameo:` URLs a ``CameoURLError``.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let (data, response) = try await data(for: resource.request)
        try Task.checkCancellation()
        return try resource.value(of: data, response)
    }
}

extension Client {
    /// Loads and reads a resource of this store without a session.
    ///
    /// - Throws: what the resource's `parse` throws, ``CameoURLError``, or `CancellationError`.
    public func load<Value>(_ resource: Resource<Value>) async throws -> Value {
        let answer = try await answer(to: resource.request)
        return try resource.value(of: answer.body, answer.response)
    }
}
