internal import Foundation

/// Loads `cameo:` URLs in a `URLSession`, and, for sessions that read through, `http:` and `https:` URLs.
///
/// Most programs get it by `URLSessionConfiguration.cameo(store:)`. To put it into a configuration by hand, subclass it
/// and say which store it reads: the session makes instances by itself and gives them nothing but a request.
open class CameoURLProtocol: URLProtocol {
    private let load = URLLoad()

    /// The store that the URLs are read from. Of this class itself there is none, and each load fails by
    /// ``CameoURLError/storeUnavailable(reason:)``.
    open class var cameoClient: Client? { nil }

    /// How `http:` and `https:` URLs are read through the store; nil leaves them to the session.
    open class var cameoReadThrough: ReadThrough? { nil }

    /// True for the scheme `cameo`, and for GET and HEAD requests without a body that are to be read through the store.
    open override class func canInit(with request: URLRequest) -> Bool {
        switch request.url?.scheme?.lowercased() {
        case "cameo": true
        case "http", "https": cameoReadThrough != nil && canReadThrough(request)
        default: false
        }
    }

    private static func canReadThrough(_ request: URLRequest) -> Bool {
        ["GET", "HEAD"].contains(request.httpMethod ?? "GET") && request.httpBody == nil
            && request.httpBodyStream == nil
            && request.url?.host()?.isEmpty == false
    }

    /// One spelling for each address; a malformed one stays as it is, and fails when it is loaded.
    open override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard let url = request.url, let address = try? CameoAddress(url), let canonical = URL(string: address.text)
        else { return request }
        var request = request
        request.url = canonical
        return request
    }

    /// Nil from the moment of the answer on. A task that is cancelled just then fails by way of this property; telling
    /// its end twice, swift-corelibs-foundation would look for a task that it has forgotten, and crash.
    open override var client: (any URLProtocolClient)? {
        get { load.isAnswered ? nil : super.client }
        set { super.client = newValue }
    }

    /// Returns at once: the store reads on threads of its own, never on the session's.
    open override func startLoading() {
        guard let client else { return }
        let request = request
        let type = Self.self
        // Of an answer, Foundation would look for the file that only its own protocols make, and crash
        // (https://github.com/swiftlang/swift-corelibs-foundation/issues/5465).
        let isDownload = task is URLSessionDownloadTask
        load.begin(URLLoad.Ticket(urlProtocol: self, client: client)) { load in
            do {
                guard !isDownload else { throw CameoURLError.downloadTask(request.url?.absoluteString ?? "") }
                load.finish(with: try await type.answer(to: request))
            } catch {
                load.finish(throwing: error)
            }
        }
    }

    private static func answer(to request: URLRequest) async throws -> Answer {
        guard let client = cameoClient else {
            throw CameoURLError.storeUnavailable(reason: "\(self) was given no store")
        }
        guard request.url?.scheme?.lowercased() != "cameo" else { return try await client.answer(to: request) }
        return try await ProtocolClasses.loader(of: self, client).answer(to: request)
    }

    /// Cancels what is under way; the session's client hears nothing more from here.
    open override func stopLoading() {
        load.stop()
    }
}
