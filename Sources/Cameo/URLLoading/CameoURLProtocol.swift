internal import CameoModel
internal import Foundation
public import FoundationNetworking

/// Loads `cameo:` URLs in a `URLSession`.
///
/// Most programs get it by `URLSessionConfiguration.cameo(store:)`. To put it into a configuration by hand, subclass it
/// and say which store it reads: the session makes instances by itself and gives them nothing but a request.
open class CameoURLProtocol: URLProtocol {
    private let load = URLLoad()

    /// The store that the URLs are read from. Of this class itself there is none, and each load fails by
    /// ``CameoURLError/storeUnavailable(reason:)``.
    open class var cameoClient: Client? { nil }

    /// True for the scheme `cameo`, in whatever case.
    open override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme?.lowercased() == "cameo"
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
        let store = Self.cameoClient
        let name = "\(Self.self)"
        load.begin(URLLoad.Ticket(urlProtocol: self, client: client)) { load in
            do {
                guard let store else { throw CameoURLError.storeUnavailable(reason: "\(name) was given no store") }
                load.finish(with: try await store.answer(to: request))
            } catch {
                load.finish(throwing: error)
            }
        }
    }

    /// Cancels what is under way; the session's client hears nothing more from here.
    open override func stopLoading() {
        load.stop()
    }
}
